{-# LANGUAGE OverloadedStrings #-}
-- What examples/text.rs does, with GHC's text and bytestring. text FILE
import Control.Exception
import Control.Monad
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Char
import Data.IORef
import Data.List (foldl')
import qualified Data.Text as T
import qualified Data.Text.Encoding as T
import Data.Word
import GHC.Clock
import System.Environment
import Text.Printf

runs :: Int
runs = 9

main :: IO ()
main = do
  [file] <- getArgs
  bytes <- B.readFile file
  text <- evaluate (T.decodeUtf8 bytes)
  again <- evaluate (T.copy text)
  reversed <- evaluate (T.reverse text)
  half <- evaluate (T.length text `div` 2)
  let size = B.length bytes
      textLines = T.lines text
      byteLines = C.split '\n' bytes
  _ <- evaluate (sum (map T.length textLines) + sum (map B.length byteLines))
  measure size "decode" T.decodeUtf8 bytes T.length
  measure size "length" T.length text id
  measure size "length of filter" (\t -> T.length (T.filter (not . isAlpha) t)) text id
  measure size "length of map" (\t -> T.length (T.map plainer t)) text id
  measure size "fold" (\t -> T.foldl' (\sum' c -> sum' + fromEnum c) 0 t) text id
  measure size "take" (\t -> T.take half t) text T.length
  measure size "drop" (\t -> T.drop half t) text T.length
  measure size "lines" (notEmpty T.null . T.lines) text id
  measure size "split" (\t -> notEmpty T.null (T.split (== ' ') t)) text id
  measure size "words" (\t -> countIf (\w -> T.length w > 3) (T.words t)) text id
  measure size "find" (T.null . snd . T.breakOn "threadless") text (fromEnum . not)
  measure size "count" (\t -> T.count "the " t) text id
  measure size "replace" (\t -> T.replace "the " "a " t) text T.length
  measure size "lower case" T.toLower text T.length
  measure size "upper case" T.toUpper text T.length
  measure size "filter" (\t -> T.filter (not . isAlpha) t) text T.length
  measure size "map" (\t -> T.map plainer t) text T.length
  measure size "concat map" (\t -> T.concatMap (\c -> T.pack [c, c]) t) text T.length
  measure size "reverse" (\t -> T.reverse t) text T.length
  measure size "zip with" (\t -> T.zipWith max t reversed) text T.length
  measure size "intersperse" (\t -> T.intersperse '-' t) text T.length
  measure size "intercalate" (T.intercalate ", ") textLines T.length
  measure size "concat" T.concat textLines T.length
  measure size "append" (\t -> T.append t t) text T.length
  measure size "cons" (\t -> T.cons 'x' t) text T.length
  measure size "replicate" (\count -> T.replicate count "the ") (size `div` 4) T.length
  measure size "compare" (== again) text fromEnum
  measure size "bytes lines" (notEmpty B.null . C.lines) bytes id
  measure size "bytes split" (\b -> notEmpty B.null (C.split ' ' b)) bytes id
  measure size "bytes find" (B.null . snd . B.breakSubstring "threadless") bytes (fromEnum . not)
  measure size "bytes count" (\b -> C.count 'e' b) bytes id
  measure size "bytes map" (\b -> B.map upper b) bytes B.length
  measure size "bytes concat" B.concat byteLines B.length

plainer :: Char -> Char
plainer c = if c == 'e' then 'a' else c

upper :: Word8 -> Word8
upper byte = if byte >= 97 && byte <= 122 then byte - 32 else byte

countIf :: (a -> Bool) -> [a] -> Int
countIf holds = foldl' (\count each -> if holds each then count + 1 else count) 0

notEmpty :: (a -> Bool) -> [a] -> Int
notEmpty isEmpty = countIf (not . isEmpty)

-- The fastest of several runs. What it is run on is read anew each time, so that nothing is computed once for all.
measure :: Int -> String -> (a -> b) -> a -> (b -> Int) -> IO ()
measure size step run input result = do
  given <- newIORef input
  times <- forM [1 .. runs] $ \_ -> do
    begin <- getMonotonicTime
    _ <- evaluate . run =<< readIORef given
    end <- getMonotonicTime
    pure (end - begin)
  found <- result . run <$> readIORef given
  printf "%s: %.0f MB/s, result %d\n" step (fromIntegral size / minimum times / 1e6) found
{-# NOINLINE measure #-}
