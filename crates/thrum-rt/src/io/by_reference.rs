//! The `futures-io` traits of a type whose reference has them.

/// `AsyncRead` by way of the reference: `async_read_by_reference! { impl<T: Bounds> AsyncRead for Type<T> }`.
macro_rules! async_read_by_reference {
    (impl $(<$parameter:ident: $bound:path>)? AsyncRead for $type:ty) => {
        impl $(<$parameter: $bound>)? futures_io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_read(cx, buffer)
            }

            fn poll_read_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffers: &mut [std::io::IoSliceMut<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_read_vectored(cx, buffers)
            }
        }
    };
}

/// `AsyncWrite` by way of the reference: `async_write_by_reference! { impl<T: Bounds> AsyncWrite for Type<T> }`.
macro_rules! async_write_by_reference {
    (impl $(<$parameter:ident: $bound:path>)? AsyncWrite for $type:ty) => {
        impl $(<$parameter: $bound>)? futures_io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_write(cx, bytes)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffers: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                std::pin::Pin::new(&mut &*self).poll_write_vectored(cx, buffers)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut &*self).poll_flush(cx)
            }

            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::pin::Pin::new(&mut &*self).poll_close(cx)
            }
        }
    };
}

pub(crate) use {async_read_by_reference, async_write_by_reference};
