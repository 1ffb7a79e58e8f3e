//! What waits or joins: order, pace, how much is read ahead, how it is closed, and that a dropped `next` loses nothing.

mod cancel;
mod joins;
mod paced;
mod tasks;
mod tee;
mod time;
