{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE OverloadedStrings #-}
-- Parses all requests of a file with attoparsec.
import qualified Data.ByteString as B
import GHC.Clock
import System.Environment
import System.Exit
import Text.Printf

-- grammar
import Control.Applicative
import Data.Attoparsec.ByteString
import qualified Data.Attoparsec.ByteString.Char8 as C
import Data.ByteString (ByteString)
import Data.Word

data Request = Request
  { method :: !ByteString
  , target :: !ByteString
  , version :: !ByteString
  , fields :: [Field]
  }

data Field = Field !ByteString !ByteString

isToken :: Word8 -> Bool
isToken w = w <= 127 && notInClass "\0-\31()<>@,;:\\\"/[]?={} \t\127" w

isVersion :: Word8 -> Bool
isVersion w = w >= 48 && w <= 57 || w == 46

isValue :: Word8 -> Bool
isValue w = w /= 13 && w /= 10

crlf :: Parser ()
crlf = string "\r\n" *> pure ()

request :: Parser Request
request = requestLine <*> many field <* crlf

requestLine :: Parser ([Field] -> Request)
requestLine =
  Request
    <$> takeWhile1 isToken <* C.char8 ' '
    <*> takeWhile1 (/= 32) <* string " HTTP/"
    <*> takeWhile1 isVersion <* crlf

field :: Parser Field
field =
  Field
    <$> takeWhile1 isToken <* C.char8 ':' <* skipWhile C.isHorizontalSpace
    <*> Data.Attoparsec.ByteString.takeWhile isValue <* crlf
-- end

main :: IO ()
main = do
  [file] <- getArgs
  bytes <- B.readFile file
  begin <- getMonotonicTime
  (requests, found) <- parseAll 0 0 bytes
  end <- getMonotonicTime
  let seconds = end - begin
      rate = fromIntegral (B.length bytes) / seconds / 1e6 :: Double
  printf "%d requests, %d header fields, %d bytes, " requests found (B.length bytes)
  printf "parsed in %.6f s: %.0f MB/s\n" seconds rate

parseAll :: Int -> Int -> ByteString -> IO (Int, Int)
parseAll !requests !found bytes
  | B.null bytes = pure (requests, found)
  | otherwise = case parse request bytes of
      Done rest head' -> parseAll (requests + 1) (found + length (fields head')) rest
      _ -> die ("request " ++ show (requests + 1) ++ ": malformed")
