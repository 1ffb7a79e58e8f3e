//! Pipes: bytes get through in order, both ends are seen, a full pipe is waited for.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::Duration;

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use thrum_rt::pipe::{PipeReader, PipeWriter, pipe};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{block_on, spawn};

const SECONDS: Duration = Duration::from_secs(10);

#[test]
fn bytes_and_the_end_get_through() {
    block_on(async {
        let (reader, writer) = pipe().unwrap();
        let sender = spawn(async move {
            writer.write_all(b"hello").await.unwrap();
        });
        let mut received = Vec::new();
        let mut reader = reader;
        let read = timeout(SECONDS, reader.read_to_end(&mut received)).await;
        assert_eq!(read.expect("the end is seen").unwrap(), 5);
        assert_eq!(received, b"hello");
        sender.await.unwrap();
    });
}

#[test]
fn a_full_pipe_is_waited_for() {
    block_on(async {
        let (mut reader, mut writer) = pipe().unwrap();
        let sent: Vec<u8> = (0..1_000_000u32).map(|index| (index % 251) as u8).collect();
        let expected = sent.clone();
        let sender = spawn(async move { AsyncWriteExt::write_all(&mut writer, &sent).await });
        let mut received = Vec::new();
        let read = timeout(SECONDS, reader.read_to_end(&mut received)).await;
        read.expect("the writer is woken").unwrap();
        sender.await.unwrap().unwrap();
        assert!(received == expected);
    });
}

#[test]
fn many_pipes_answer_each_other() {
    const PIPES: usize = 200;
    const MESSAGES: u32 = 50;
    block_on(async {
        let echoes: Vec<_> = (0..PIPES)
            .map(|_| {
                let ((request, asker), (answer, replier)) = (pipe().unwrap(), pipe().unwrap());
                spawn(async move {
                    let mut byte = [0];
                    while request.read(&mut byte).await.unwrap() == 1 {
                        replier.write_all(&byte).await.unwrap();
                    }
                });
                spawn(async move {
                    for message in 0..MESSAGES {
                        let mut byte = [message as u8];
                        asker.write_all(&byte).await.unwrap();
                        byte = [255];
                        assert_eq!(answer.read(&mut byte).await.unwrap(), 1);
                        assert_eq!(byte, [message as u8]);
                    }
                })
            })
            .collect();
        for echo in echoes {
            timeout(SECONDS, echo)
                .await
                .expect("no byte is lost")
                .unwrap();
        }
    });
}

#[test]
fn trying_never_waits() {
    block_on(async {
        let (reader, writer) = pipe().unwrap();
        let nothing = reader.try_read(&mut [0; 8]).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        let mut written = 0;
        let full = loop {
            match writer.try_write(&[7; 4096]) {
                Ok(more) => written += more,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert!(written >= 4096);
        assert_eq!(reader.try_read(&mut [0; 8]).unwrap(), 8);
    });
}

#[test]
fn vectors_get_through() {
    block_on(async {
        let (reader, writer) = pipe().unwrap();
        let buffers = [IoSlice::new(b"ab"), IoSlice::new(b"cdef")];
        assert_eq!(writer.try_write_vectored(&buffers).unwrap(), 6);
        let (mut first, mut second) = ([0; 4], [0; 4]);
        let mut buffers = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        assert_eq!(reader.try_read_vectored(&mut buffers).unwrap(), 6);
        assert_eq!((&first, &second[..2]), (b"abcd", &b"ef"[..]));
    });
}

#[test]
fn a_writer_learns_that_the_reader_is_gone() {
    block_on(async {
        let (reader, writer) = pipe().unwrap();
        while writer.try_write(&[0; 65536]).is_ok() {}
        let waiting = spawn(async move { writer.write(&[0; 65536]).await });
        sleep(Duration::from_millis(20)).await;
        drop(reader);
        let error = timeout(SECONDS, waiting)
            .await
            .unwrap()
            .unwrap()
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    });
}

#[test]
fn dropping_a_read_loses_nothing() {
    block_on(async {
        let (reader, writer) = pipe().unwrap();
        let mut buffer = [0; 8];
        let early = timeout(Duration::from_millis(5), reader.read(&mut buffer)).await;
        assert!(early.is_err());
        writer.write_all(b"x").await.unwrap();
        assert_eq!(reader.read(&mut buffer).await.unwrap(), 1);
    });
}

#[test]
fn descriptors_come_and_go() {
    block_on(async {
        let (reader, mut writer) = io::pipe().unwrap();
        let reader = PipeReader::from_fd(reader.into()).unwrap();
        writer.write_all(b"x").unwrap();
        assert_eq!(reader.read(&mut [0; 8]).await.unwrap(), 1);
        let mut blocking = io::PipeReader::from(reader.into_fd().unwrap());
        drop(writer);
        let end = io::Read::read(&mut blocking, &mut [0; 8]);
        assert_eq!(end.unwrap(), 0);
    });
}

#[test]
fn what_is_no_such_end_is_refused() {
    block_on(async {
        let (reader, writer) = io::pipe().unwrap();
        let kind = |error: io::Error| error.kind();
        let refused = PipeWriter::from_fd(reader.into()).map_err(kind);
        assert_eq!(refused.unwrap_err(), io::ErrorKind::InvalidInput);
        let refused = PipeReader::from_fd(writer.into()).map_err(kind);
        assert_eq!(refused.unwrap_err(), io::ErrorKind::InvalidInput);
        let file = OwnedFd::from(tempfile::tempfile().unwrap());
        let refused = PipeReader::from_fd(file).map_err(kind);
        assert_eq!(refused.unwrap_err(), io::ErrorKind::InvalidInput);
    });
}

#[test]
fn a_named_pipe_serves_one_writer_after_the_other() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );

        let nobody = PipeWriter::open(&path).unwrap_err();
        assert_eq!(
            nobody.raw_os_error(),
            Some(rustix::io::Errno::NXIO.raw_os_error())
        );

        let reader = PipeReader::open(&path).unwrap();
        let mut buffer = [0; 8];
        let early = timeout(Duration::from_millis(5), reader.read(&mut buffer)).await;
        assert!(early.is_err(), "there is no end before the first writer");

        let first = PipeWriter::open(&path).unwrap();
        first.write_all(b"1").await.unwrap();
        drop(first);
        let second = PipeWriter::open(&path).unwrap();
        assert_eq!(reader.read(&mut buffer).await.unwrap(), 1);
        // The kernel has reported the end of the first; it is an end no more.
        let early = timeout(Duration::from_millis(20), reader.read(&mut buffer)).await;
        assert!(early.is_err());
        second.write_all(b"2").await.unwrap();
        assert_eq!(reader.read(&mut buffer).await.unwrap(), 1);
        assert_eq!(buffer[0], b'2');
        drop(second);
        let end = timeout(SECONDS, reader.read(&mut buffer)).await;
        assert_eq!(end.unwrap().unwrap(), 0);
    });
}
