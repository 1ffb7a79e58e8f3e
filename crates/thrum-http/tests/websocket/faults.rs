//! What a peer may not do, and what it is told.

use futures_lite::AsyncWriteExt;
use thrum_http::websocket::{CloseCode, Error, Message, ProtocolError, WebSocket};
use thrum_rt::io::duplex;
use thrum_rt::test::run;

use super::support::*;

#[test]
fn each_violation_is_named_and_answered_with_1002() {
    use ProtocolError as P;
    run(async {
        for (bytes, expected) in [
            (plain(FIN | TEXT, b"bare"), P::UnmaskedFrameFromClient),
            (masked(FIN | 0x40 | TEXT, b"rsv"), P::NonZeroReservedBits),
            (masked(FIN | 0x20 | TEXT, b"rsv"), P::NonZeroReservedBits),
            (masked(FIN | 0x10 | PING, b"rsv"), P::NonZeroReservedBits),
            (masked(FIN | 3, b""), P::InvalidOpcode(3)),
            (masked(FIN | 11, b""), P::InvalidOpcode(11)),
            (masked(FIN | CONTINUE, b""), P::UnexpectedContinueFrame),
            (masked(PING, b""), P::FragmentedControlFrame),
            (masked(FIN | PING, &[0; 126]), P::ControlFrameTooBig),
            (masked(FIN | CLOSE, &[3]), P::InvalidCloseSequence),
        ] {
            // More than the server reads at once: it has to hear the answer all the same.
            let bytes = [bytes, vec![0; 100_000]].concat();
            let (messages, error, code) = server_meets(quiet(), bytes).await;
            assert!(messages.is_empty(), "{messages:?}");
            match error {
                Some(Error::Protocol(error)) => assert_eq!(error, expected),
                other => panic!("{other:?} instead of {expected:?}"),
            }
            assert_eq!(code, Some(CloseCode::Protocol));
        }
    });
}

#[test]
fn a_message_inside_another_is_refused() {
    run(async {
        let bytes = [masked(TEXT, b"begun"), masked(FIN | TEXT, b"another")].concat();
        let (_, error, code) = server_meets(quiet(), bytes).await;
        assert!(matches!(
            error,
            Some(Error::Protocol(ProtocolError::ExpectedFragment(_)))
        ));
        assert_eq!(code, Some(CloseCode::Protocol));
    });
}

#[test]
fn a_client_refuses_masked_frames() {
    run(async {
        let (mut server, client) = duplex(4096);
        let mut client = WebSocket::client(client, quiet());
        server.write_all(&masked(FIN | TEXT, b"x")).await.unwrap();
        server.close().await.unwrap();
        assert!(matches!(
            fault(&mut client).await,
            Error::Protocol(ProtocolError::MaskedFrameFromServer)
        ));
    });
}

#[test]
fn text_that_is_not_utf8_is_answered_with_1007() {
    run(async {
        for frames in [
            vec![masked(FIN | TEXT, b"\xff")],
            vec![masked(FIN | TEXT, b"cut short \xe4\xb8")],
            vec![masked(TEXT, b"\xe4\xb8"), masked(FIN | CONTINUE, b"x")],
            vec![masked(TEXT, b"\xe4"), masked(FIN | CONTINUE, b"\xb8")],
            // Known at the first fragment, so said before the others come.
            vec![masked(TEXT, b"\xed\xa0\x80")],
        ] {
            let (messages, error, code) = server_meets(quiet(), frames.concat()).await;
            assert!(messages.is_empty());
            assert!(matches!(error, Some(Error::NotUtf8)), "{error:?}");
            assert_eq!(code, Some(CloseCode::Invalid));
        }
    });
}

#[test]
fn messages_beyond_the_limit_are_answered_with_1009() {
    run(async {
        let mut config = quiet();
        config.message_bytes = 1000;
        config.frame_bytes = 600;
        for (frames, expected) in [
            (vec![masked(FIN | BINARY, &[0; 601])], 600),
            // Announced only: nothing of it need come.
            (vec![masked(FIN | BINARY, &[0; 70_000])[..8].to_vec()], 600),
            (
                vec![vec![
                    FIN | BINARY,
                    0xff,
                    0xff,
                    0xff,
                    0xff,
                    0xff,
                    0xff,
                    0xff,
                    0xff,
                    0xff,
                    1,
                    2,
                    3,
                    4,
                ]],
                600,
            ),
            (
                vec![masked(TEXT, &[b'x'; 600]), masked(CONTINUE, &[b'x'; 401])],
                1000,
            ),
        ] {
            let mut bytes = frames.concat();
            bytes.extend([0; 100_000]);
            let (messages, error, code) = server_meets(config, bytes).await;
            assert!(messages.is_empty());
            match error {
                Some(Error::TooLong { limit, .. }) => assert_eq!(limit, expected),
                other => panic!("{other:?}"),
            }
            assert_eq!(code, Some(CloseCode::Size));
        }
        let exactly = [
            masked(BINARY, &[0; 600]),
            masked(FIN | CONTINUE, &[0; 400]),
            masked(FIN | CLOSE, b""),
        ];
        let (messages, error, _) = server_meets(config, exactly.concat()).await;
        assert_eq!(messages[0].as_bytes().len(), 1000);
        assert!(error.is_none());
    });
}

#[test]
fn what_may_not_be_sent_is_refused_and_the_connection_goes_on() {
    use thrum_http::websocket::CloseFrame;
    run(async {
        let (mut server, mut client) = pair(quiet());
        let close = |code, reason: String| {
            let reason = reason.into();
            Message::Close(Some(CloseFrame { code, reason }))
        };
        for message in [
            Message::Ping(vec![0; 126].into()),
            Message::Pong(vec![0; 126].into()),
            close(CloseCode::Normal, "x".repeat(124)),
            close(CloseCode::Abnormal, String::new()),
            close(CloseCode::Status, String::new()),
        ] {
            let result = server.send(message).await;
            assert!(
                matches!(result, Err(Error::InvalidControl(_))),
                "{result:?}"
            );
        }
        server.send("still here").await.unwrap();
        assert_eq!(next(&mut client).await.as_text(), Some("still here"));
    });
}
