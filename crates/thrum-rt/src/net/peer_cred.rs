//! Who is at the other end of a Unix connection.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

/// The process at the other end of a Unix connection, as it was when it connected or began to listen.
///
/// The kernel vouches for it. The user and group are the effective ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerCred {
    /// The process; none if it is in a namespace that cannot be seen from here. A process may end and its id be used again.
    pub pid: Option<u32>,
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

impl PeerCred {
    // rustix has this call, but takes for granted that the process has an id here.
    pub(super) fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut found = MaybeUninit::<libc::ucred>::uninit();
        let size = size_of::<libc::ucred>() as libc::socklen_t;
        let mut length = size;
        // SAFETY: the descriptor is open as long as it is borrowed; the pointers are to `found`, which has room for `length`
        // bytes, and to `length`, and both outlive the call.
        let result = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                found.as_mut_ptr().cast(),
                &mut length,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        if length != size {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // SAFETY: the call has written all of it, as `length` says.
        let found = unsafe { found.assume_init() };
        Ok(Self {
            pid: u32::try_from(found.pid).ok().filter(|&pid| pid != 0),
            uid: found.uid,
            gid: found.gid,
        })
    }
}
