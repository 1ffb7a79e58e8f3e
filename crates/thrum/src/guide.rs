//! The programs of the guide and the README, which are tests of this crate. Those of them that are servers are compiled only.

#[doc = include_str!("../../../README.md")]
mod readme {}

#[doc = include_str!("../../../guide/src/ideas/back-pressure.md")]
mod back_pressure {}

#[doc = include_str!("../../../guide/src/ideas/cancellation.md")]
mod cancellation {}

#[doc = include_str!("../../../guide/src/ideas/hand-off.md")]
mod hand_off {}

#[doc = include_str!("../../../guide/src/ideas/tasks.md")]
mod tasks {}

#[doc = include_str!("../../../guide/src/migrate/tokio.md")]
mod tokio {}

#[doc = include_str!("../../../guide/src/start/write.md")]
mod write {}

#[doc = include_str!("../../../guide/src/tutorials/axum.md")]
mod axum {}

#[doc = include_str!("../../../guide/src/tutorials/chat.md")]
mod chat {}
