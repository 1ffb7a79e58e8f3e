{-# LANGUAGE OverloadedStrings #-}
-- The simple servers of the Haskell wiki: strings, byte strings, or callbacks. simple PORT string|bytestring|callbacks
import Control.Concurrent
import Control.Monad
import qualified Data.ByteString.Char8 as B
import GHC.Event
import Network.Socket
import Network.Socket.ByteString
import System.Environment
import System.IO

main :: IO ()
main = do
  [port, style] <- getArgs
  listener <- socket AF_INET Stream defaultProtocol
  setSocketOption listener ReuseAddr 1
  bind listener (SockAddrInet (read port) (tupleToHostAddress (127, 0, 0, 1)))
  listen listener 4096
  case style of
    "callbacks" -> callbacks listener
    "string" -> acceptAll listener withString
    _ -> acceptAll listener withByteString

-- A lightweight thread for each connection.
acceptAll :: Socket -> (Socket -> IO ()) -> IO ()
acceptAll listener serve = forever $ do
  (client, _) <- accept listener
  forkIO (serve client)

withString :: Socket -> IO ()
withString client = do
  handle <- socketToHandle client ReadWriteMode
  _ <- hGetLine handle
  hPutStr handle "HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nPong!\r\n"
  hFlush handle
  hClose handle

withByteString :: Socket -> IO ()
withByteString client = do
  _ <- recv client 4096
  sendAll client message
  close client

-- The system's event manager calls back when there is something to accept, or to read.
callbacks :: Socket -> IO ()
callbacks listener = do
  Just manager <- getSystemEventManager
  let onReadable lifetime connection callback = do
        descriptor <- unsafeFdSocket connection
        void (registerFd manager (\_ _ -> callback) (fromIntegral descriptor) evtRead lifetime)
  onReadable MultiShot listener $ do
    (client, _) <- accept listener
    onReadable OneShot client (withByteString client)
  forever (threadDelay maxBound)

message :: B.ByteString
message = "HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nPong!\r\n"
