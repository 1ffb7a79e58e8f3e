-- M one-byte messages through N pipes, a reader and a writer thread each, each read within SECONDS if that is given.
-- pipes N M [SECONDS]
import Control.Concurrent
import Control.Monad
import Data.Time.Clock
import Foreign hiding (void)
import Foreign.C.Types
import System.Environment
import System.Posix.IO
import System.Posix.Types
import System.Timeout

foreign import ccall unsafe "read" cRead :: CInt -> Ptr Word8 -> CSize -> IO CSsize
foreign import ccall unsafe "write" cWrite :: CInt -> Ptr Word8 -> CSize -> IO CSsize

main :: IO ()
main = do
  first : second : rest <- getArgs
  let count = read first :: Int
      each = read second `div` count
      limited wait = case rest of
        [seconds] -> void (timeout (read seconds * 1000000) wait)
        _ -> wait
  done <- newEmptyMVar
  pipes <- replicateM count createPipe
  forM_ pipes $ \(reader, writer) -> do
    setFdOption reader NonBlockingRead True
    setFdOption writer NonBlockingRead True
  begin <- getCurrentTime
  forM_ pipes $ \(reader, writer) -> do
    _ <- forkIO $ allocaBytes 1 $ \message -> do
      replicateM_ each $ limited (threadWaitRead reader) >> cRead (fromIntegral reader) message 1
      putMVar done ()
    forkIO $ allocaBytes 1 $ \message ->
      replicateM_ each $ threadWaitWrite writer >> cWrite (fromIntegral writer) message 1
  replicateM_ count (takeMVar done)
  end <- getCurrentTime
  putStrLn (show (diffUTCTime end begin))
