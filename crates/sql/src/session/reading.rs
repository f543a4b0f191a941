//! Settings of how blocks are read from disk: those of the whole database, which every
//! session shows as they are.

use freestone_storage::{ReadMethod, ReadOptions, Store};

use super::Session;
use crate::error::{Error, Result};
use crate::memory::size;

const METHOD: &str = "freestone.read_method";
const UNIT: &str = "freestone.io_unit";
const DEPTH: &str = "freestone.prefetch_depth";
const DIRECT: &str = "freestone.direct_reads";

/// Their names, sorted.
const NAMES: [&str; 4] = [DIRECT, UNIT, DEPTH, METHOD];

impl Session {
    /// The value of a setting of reading; `None` if it is none of these.
    pub(crate) fn reading(&self, name: &str) -> Option<String> {
        let options = self.database().store().read_options();
        Some(match name.to_lowercase().as_str() {
            METHOD => match options.method {
                ReadMethod::Auto => "auto",
                ReadMethod::IoUring => "io_uring",
                ReadMethod::Threads => "threads",
            }
            .to_owned(),
            UNIT => format!("{}KiB", options.unit_bytes >> 10),
            DEPTH => options.depth.to_string(),
            DIRECT => if options.direct { "on" } else { "off" }.to_owned(),
            _ => return None,
        })
    }

    /// All of them with their values.
    pub(crate) fn all_reading(&self) -> Vec<(String, String)> {
        let known = NAMES.iter();
        let shown = known.filter_map(|name| Some(((*name).to_owned(), self.reading(name)?)));
        shown.collect()
    }

    /// Sets one, or brings back its default; whether it is one of these.
    ///
    /// # Errors
    /// `22023` for a value that it cannot have.
    pub(crate) fn set_reading(&self, name: &str, value: Option<&str>) -> Result<bool> {
        let name = name.to_lowercase();
        if !NAMES.contains(&name.as_str()) {
            return Ok(false);
        }
        let store: &Store = self.database().store();
        let mut options = store.read_options();
        let default = ReadOptions::default();
        let refuse = |value: &str, why: &str| {
            let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
            Error::new("22023", message).with_hint(why.to_owned())
        };
        match (name.as_str(), value) {
            (METHOD, None) => options.method = default.method,
            (METHOD, Some(value)) => options.method = value.parse()?,
            (UNIT, None) => options.unit_bytes = default.unit_bytes,
            (UNIT, Some(value)) => {
                let bytes = size(value).filter(|bytes| bytes.fract() == 0.0);
                let usage = "give a size such as '128KiB': 4 KiB to 16 MiB, a multiple of 4 KiB";
                // In range: what is beyond is refused by the store.
                options.unit_bytes = bytes.ok_or_else(|| refuse(value, usage))? as usize;
            }
            (DEPTH, None) => options.depth = default.depth,
            (DEPTH, Some(value)) => {
                let depth = value.trim().parse();
                options.depth = depth.map_err(|_| refuse(value, "give 0 to 1024 units"))?;
            }
            (_, None) => options.direct = default.direct,
            (_, Some(value)) => {
                options.direct = match value.to_lowercase().as_str() {
                    "on" | "true" | "1" => true,
                    "off" | "false" | "0" => false,
                    _ => return Err(refuse(value, "give 'on' or 'off'")),
                }
            }
        }
        store.set_read_options(options)?;
        Ok(true)
    }
}
