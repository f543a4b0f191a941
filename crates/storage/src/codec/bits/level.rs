//! Which instructions the kernels may use on this machine.

use std::sync::OnceLock;

/// An instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every machine of the architecture has (NEON on arm64).
    Plain,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors with byte and word operations.
    Avx512,
}

impl Level {
    /// The best one of this machine, found once.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Level::available().last().copied().unwrap_or(Level::Plain))
    }

    /// Those that this machine can run, plain first.
    pub fn available() -> Vec<Level> {
        let mut levels = vec![Level::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                levels.push(Level::Avx2);
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                {
                    levels.push(Level::Avx512);
                }
            }
        }
        levels
    }
}

/// Compiles a generic function `body` for every level and calls the one asked for.
///
/// `dispatch!(level, body::<T>(a: A, b: B))`: the body must be `#[inline(always)]`
/// so that it takes on the features of its wrapper.
macro_rules! dispatch {
    ($level:expr, $body:ident::<$($generic:ident: $bound:path),*>($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
        fn avx2<$($generic: $bound),*>($($argument: $type),*) $(-> $result)? {
            $body::<$($generic),*>($($argument),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512dq")]
        fn avx512<$($generic: $bound),*>($($argument: $type),*) $(-> $result)? {
            $body::<$($generic),*>($($argument),*)
        }
        match $level {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Level` above plain comes from `Level::available`, which asked the CPU.
            $crate::codec::bits::Level::Avx512 => unsafe { avx512::<$($generic),*>($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            $crate::codec::bits::Level::Avx2 => unsafe { avx2::<$($generic),*>($($argument),*) },
            _ => $body::<$($generic),*>($($argument),*),
        }
    }};
}
pub(crate) use dispatch;
