//! The thrum runtime: lightweight threads, scheduler with hand-off, reactors, timers, network
