//! Nothing is built here: the model is in `tests/`.
