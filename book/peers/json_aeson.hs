{-# LANGUAGE BangPatterns #-}
-- Parses a JSON document with aeson into values, over and over. json_aeson FILE TIMES
import Control.Exception
import Control.Monad
import Data.Aeson
import qualified Data.ByteString as B
import Data.IORef
import GHC.Clock
import System.Environment
import System.Exit
import Text.Printf

main :: IO ()
main = do
  [file, count] <- getArgs
  bytes <- B.readFile file
  given <- newIORef bytes
  let times = read count :: Int
  found <- newIORef 0
  begin <- getMonotonicTime
  replicateM_ times $ do
    value <- eitherDecodeStrict' <$> readIORef given
    -- All of the value is needed for its number of values.
    writeIORef found =<< evaluate . values =<< either die pure value
  end <- getMonotonicTime
  total <- readIORef found
  let seconds = end - begin
      rate = fromIntegral (times * B.length bytes) / seconds / 1e6 :: Double
  printf "%d values, %d bytes, parsed %d times in %.6f s: %.0f MB/s\n" total (B.length bytes) times seconds rate

values :: Value -> Int
values (Array items) = foldr (\item !total -> total + values item) 1 items
values (Object members) = foldr (\member !total -> total + values member) 1 members
values _ = 1
