//! The place of threads in the system's schedule.

/// Puts the calling thread so many steps of `nice` below those of other programs. Linux alone has
/// priorities of threads; nothing changes elsewhere, or if the system refuses.
pub fn drop_priority(steps: i32) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, steps);
    #[cfg(not(target_os = "linux"))]
    let _ = steps;
}

/// Gives the calling thread the time that no other thread wants, and no more; the way back is for
/// privileged users. Returns whether the system does that: Linux has such a policy.
#[must_use]
pub fn take_idle_time() -> bool {
    #[cfg(target_os = "linux")]
    {
        let lowest = libc::sched_param { sched_priority: 0 };
        // SAFETY: the call reads the structure, and changes the calling thread alone.
        let refused = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const lowest) };
        refused == 0
    }
    #[cfg(not(target_os = "linux"))]
    false
}
