//! What stands where a TLS session would, in a build without: nothing can.

use std::fs::File;
use std::io::{self, IoSlice};

use super::Socket;

#[derive(Debug)]
pub(crate) enum Session {}

impl Session {
    pub(crate) fn has_read_ahead(&self) -> bool {
        match *self {}
    }

    pub(crate) fn try_read(&mut self, _: &Socket, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn try_write(&mut self, _: &Socket, _: &[u8], _: bool) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn try_write_vectored(
        &mut self,
        _: &Socket,
        _: &[IoSlice<'_>],
    ) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn try_send_file(
        &mut self,
        _: &Socket,
        _: &File,
        _: u64,
        _: usize,
    ) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn holds_back(&self) -> bool {
        match *self {}
    }

    pub(crate) fn try_flush(&mut self, _: &Socket) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn end(&mut self, _: &Socket) -> io::Result<()> {
        match *self {}
    }
}
