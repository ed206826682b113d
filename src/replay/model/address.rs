//! Where the model may listen: loopback, and nowhere else. It has no authentication and answers whoever asks.

use std::net::SocketAddr;
use std::str::FromStr;

/// An address that is not a loopback address with a port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLoopback {
    /// Not `IP:PORT`.
    #[error("{0:?} is not an address of the form 127.0.0.1:PORT or [::1]:PORT")]
    NotAnAddress(String),
    /// An address that others could reach.
    #[error("{0} is not a loopback address; the scripted model listens on 127.0.0.0/8 or [::1] only")]
    Reachable(SocketAddr),
}

/// A socket address on loopback; port 0 lets the system choose one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopbackAddr(SocketAddr);

impl LoopbackAddr {
    /// The address for the system's calls.
    #[must_use]
    pub const fn as_socket_addr(self) -> SocketAddr {
        self.0
    }
}

impl FromStr for LoopbackAddr {
    type Err = NotLoopback;

    fn from_str(text: &str) -> Result<Self, NotLoopback> {
        let address: SocketAddr = text.parse().map_err(|_| NotLoopback::NotAnAddress(text.to_owned()))?;
        if address.ip().is_loopback() {
            Ok(Self(address))
        } else {
            Err(NotLoopback::Reachable(address))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_taken() {
        for good in ["127.0.0.1:0", "127.8.9.1:8080", "[::1]:0"] {
            assert!(good.parse::<LoopbackAddr>().is_ok(), "{good}");
        }
        for bad in [
            "0.0.0.0:0",
            "[::]:0",
            "10.0.0.1:80",
            "192.168.1.1:1",
            "[::ffff:10.0.0.1]:1",
        ] {
            assert!(
                matches!(bad.parse::<LoopbackAddr>(), Err(NotLoopback::Reachable(_))),
                "{bad}"
            );
        }
        // Names are not resolved: what they mean is somebody else's decision.
        for bad in ["localhost:0", "127.0.0.1", "", ":80", "127.0.0.1:99999"] {
            assert!(
                matches!(bad.parse::<LoopbackAddr>(), Err(NotLoopback::NotAnAddress(_))),
                "{bad}"
            );
        }
    }
}
