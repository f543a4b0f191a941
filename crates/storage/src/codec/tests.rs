//! Codecs on whole columns: every codec that can hold a type gives it back.
