//! Wire types: what the client sends to a hook, what a hook answers, what an isolated child prints. Tolerant in
//! (unknown fields and events pass), exact out.

pub mod agent_file;
pub mod child;
pub mod command_line;
pub mod event;
pub mod reply;
pub mod settings;
pub mod transcript;
pub mod version;

pub use child::{ChildOutputError, ChildResult, Tokens};
pub use command_line::ParentFlags;
pub use event::{EventError, HookEvent, PermissionMode, ToolUse};
pub use reply::{HookReply, PostReply};
pub use version::ClientVersion;
