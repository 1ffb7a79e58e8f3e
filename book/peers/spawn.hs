-- N light threads that each wait for a start and a stop variable. spawn N
import Control.Concurrent
import Control.Monad
import System.Environment

main :: IO ()
main = do
  [argument] <- getArgs
  let count = read argument :: Int
  threads <- replicateM count $ do
    start <- newEmptyMVar
    stop <- newEmptyMVar
    done <- newEmptyMVar
    _ <- forkIO $ takeMVar start >> takeMVar stop >> putMVar done ()
    return (start, stop, done)
  putStrLn ("Created " ++ show count)
  forM_ threads $ \(start, _, _) -> putMVar start ()
  threadDelay 3000000
  forM_ threads $ \(_, stop, _) -> putMVar stop ()
  forM_ threads $ \(_, _, done) -> takeMVar done
  putStrLn ("Destroyed " ++ show count)
