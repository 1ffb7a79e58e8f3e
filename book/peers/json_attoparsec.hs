{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE OverloadedStrings #-}
-- Parses a JSON document with attoparsec into values, over and over. json_attoparsec FILE TIMES
import Control.Exception
import Control.Monad
import qualified Data.ByteString as B
import Data.IORef
import GHC.Clock
import System.Environment
import System.Exit
import Text.Printf

-- grammar
import Data.Attoparsec.ByteString.Char8
import Data.Bits
import Data.ByteString (ByteString)
import Data.Char (chr)
import Data.Scientific (Scientific)
import Data.Text (Text)
import qualified Data.Text as T
import qualified Data.Text.Encoding as T
import Numeric (readHex)

data Value
  = Object [(Text, Value)]
  | Array [Value]
  | String !Text
  | Number !Scientific
  | Bool !Bool
  | Null

document :: Parser Value
document = skipSpace *> value <* skipSpace <* endOfInput

value :: Parser Value
value = do
  next <- peekChar'
  case next of
    '"' -> String <$> text
    '{' -> Object <$> (char '{' *> skipSpace *> commas member <* char '}')
    '[' -> Array <$> (char '[' *> skipSpace *> commas value <* char ']')
    't' -> Bool True <$ string "true"
    'f' -> Bool False <$ string "false"
    'n' -> Null <$ string "null"
    _ -> Number <$> scientific

commas :: Parser a -> Parser [a]
commas item = (item <* skipSpace) `sepBy'` (char ',' *> skipSpace)

member :: Parser (Text, Value)
member = (,) <$> text <* skipSpace <* char ':' <* skipSpace <*> value

text :: Parser Text
text = do
  plain <- char '"' *> run
  next <- anyChar
  if next == '"' then utf8 plain else T.concat <$> ((:) <$> utf8 plain <*> escaped)

escaped :: Parser [Text]
escaped = do
  this <- escape
  plain <- run >>= utf8
  next <- anyChar
  (this :) . (plain :) <$> if next == '"' then pure [] else escaped

run :: Parser ByteString
run = Data.Attoparsec.ByteString.Char8.takeWhile (\c -> c /= '"' && c /= '\\' && c >= ' ')

utf8 :: ByteString -> Parser Text
utf8 = either (fail . show) pure . T.decodeUtf8'

escape :: Parser Text
escape = do
  next <- anyChar
  case lookup next (zip "\"\\/bfnrt" "\"\\/\b\f\n\r\t") of
    Just c -> pure (T.singleton c)
    Nothing | next == 'u' -> T.singleton . chr <$> unicode
    Nothing -> fail "escape"

unicode :: Parser Int
unicode = do
  high <- hex4
  if high .&. 0xfc00 /= 0xd800
    then pure high
    else do
      low <- string "\\u" *> hex4
      pure (0x10000 + (high .&. 0x3ff) `shiftL` 10 + low .&. 0x3ff)

hex4 :: Parser Int
hex4 = do
  digits <- count 4 (satisfy (inClass "0-9a-fA-F"))
  pure (fst (head (readHex digits)))
-- end

main :: IO ()
main = do
  [file, times'] <- getArgs
  bytes <- B.readFile file
  given <- newIORef bytes
  let times = read times' :: Int
  found <- newIORef 0
  begin <- getMonotonicTime
  replicateM_ times $ do
    parsed <- parseOnly document <$> readIORef given
    -- All of the value is needed for its number of values.
    writeIORef found =<< evaluate . values =<< either die pure parsed
  end <- getMonotonicTime
  total <- readIORef found
  let seconds = end - begin
      rate = fromIntegral (times * B.length bytes) / seconds / 1e6 :: Double
  printf "%d values, %d bytes, parsed %d times in %.6f s: %.0f MB/s\n" total (B.length bytes) times seconds rate

values :: Value -> Int
values (Array items) = foldr (\item !total -> total + values item) 1 items
values (Object members) = foldr (\(_, member') !total -> total + values member') 1 members
values _ = 1
