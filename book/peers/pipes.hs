-- M one-byte messages through N pipes, a reader and a writer thread each. pipes N M
import Control.Concurrent
import Control.Monad
import Data.Time.Clock
import Foreign
import Foreign.C.Types
import System.Environment
import System.Posix.IO
import System.Posix.Types

foreign import ccall unsafe "read" cRead :: CInt -> Ptr Word8 -> CSize -> IO CSsize
foreign import ccall unsafe "write" cWrite :: CInt -> Ptr Word8 -> CSize -> IO CSsize

main :: IO ()
main = do
  [first, second] <- getArgs
  let count = read first :: Int
      each = read second `div` count
  done <- newEmptyMVar
  pipes <- replicateM count createPipe
  forM_ pipes $ \(reader, writer) -> do
    setFdOption reader NonBlockingRead True
    setFdOption writer NonBlockingRead True
  begin <- getCurrentTime
  forM_ pipes $ \(reader, writer) -> do
    _ <- forkIO $ allocaBytes 1 $ \message -> do
      replicateM_ each $ threadWaitRead reader >> cRead (fromIntegral reader) message 1
      putMVar done ()
    forkIO $ allocaBytes 1 $ \message ->
      replicateM_ each $ threadWaitWrite writer >> cWrite (fromIntegral writer) message 1
  replicateM_ count (takeMVar done)
  end <- getCurrentTime
  putStrLn (show (diffUTCTime end begin))
