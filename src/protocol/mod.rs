//! Wire types: what the client sends to a hook, what a hook answers, what an isolated child prints. Tolerant in
//! (unknown fields and events pass), exact out.

pub mod child;
pub mod event;
pub mod reply;

pub use child::{ChildOutputError, ChildResult, Tokens};
pub use event::{EventError, HookEvent, PermissionMode, ToolUse};
pub use reply::HookReply;
