{-# LANGUAGE OverloadedStrings #-}
-- Two things, one after the other and then at once: each computes fib(N), or asks for http://HOST:PORT/PATH. cpu N|URL
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as B
import Data.IORef
import Data.List (isPrefixOf)
import GHC.Clock
import Network.Socket
import Network.Socket.ByteString
import System.Environment
import Text.Printf

main :: IO ()
main = do
  [what] <- getArgs
  -- The number is read anew each time, so that nothing is computed once for all.
  number <- newIORef what
  let compute = readIORef number >>= \n -> void (evaluate (fib (read n)))
      work = if "http" `isPrefixOf` what then ask what else compute
  inTurn <- seconds (work >> work)
  atOnce <- seconds $ do
    both <- replicateM 2 newEmptyMVar
    forM_ both $ \done -> forkIO (work >> putMVar done ())
    mapM_ takeMVar both
  printf "one after the other %.3f s\n" inTurn
  printf "at once %.3f s\n" atOnce
  printf "ratio %.3f\n" (atOnce / inTurn)

seconds :: IO () -> IO Double
seconds work = do
  begin <- getMonotonicTime
  work
  end <- getMonotonicTime
  pure (end - begin)

-- One request on a connection of its own.
ask :: String -> IO ()
ask url = do
  let (host, path) = break (== '/') (drop (length ("http://" :: String)) url)
      (name, port) = break (== ':') host
  address : _ <- getAddrInfo Nothing (Just name) (Just (drop 1 port))
  connection <- socket (addrFamily address) Stream defaultProtocol
  connect connection (addrAddress address)
  sendAll connection (B.pack ("GET " ++ path ++ " HTTP/1.1\r\nHost: " ++ host ++ "\r\nConnection: close\r\n\r\n"))
  answer <- readAll connection
  unless ("HTTP/1.1 200" `B.isPrefixOf` answer) (fail ("answered " ++ B.unpack answer))
  close connection

readAll :: Socket -> IO B.ByteString
readAll connection = do
  some <- recv connection 4096
  if B.null some then pure "" else B.append some <$> readAll connection

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
{-# NOINLINE fib #-}
