{-# LANGUAGE BangPatterns #-}
-- Parses all requests of a file with Parsec.
import qualified Data.ByteString.Char8 as B
import GHC.Clock
import System.Environment
import System.Exit
import qualified Text.Printf as P

-- grammar
import Text.Parsec
import Text.Parsec.ByteString

data Request = Request
  { method :: String
  , target :: String
  , version :: String
  , fields :: [Field]
  }

data Field = Field String String

isToken :: Char -> Bool
isToken c = c > ' ' && c < '\127' && c `notElem` "()<>@,;:\\\"/[]?={}"

crlf' :: Parser ()
crlf' = () <$ string "\r\n"

request :: Parser Request
request = requestLine <*> many field <* crlf'

requestLine :: Parser ([Field] -> Request)
requestLine =
  Request
    <$> many1 (satisfy isToken) <* char ' '
    <*> many1 (satisfy (/= ' ')) <* string " HTTP/"
    <*> many1 (oneOf "0123456789.") <* crlf'

field :: Parser Field
field =
  Field
    <$> many1 (satisfy isToken) <* char ':' <* skipMany (oneOf " \t")
    <*> many (noneOf "\r\n") <* crlf'
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
  P.printf "%d requests, %d header fields, %d bytes, " requests found (B.length bytes)
  P.printf "parsed in %.6f s: %.2f MB/s\n" seconds rate

parseAll :: Int -> Int -> B.ByteString -> IO (Int, Int)
parseAll !requests !found bytes
  | B.null bytes = pure (requests, found)
  | otherwise = case parse ((,) <$> request <*> getInput) "" bytes of
      Right (head', rest) -> parseAll (requests + 1) (found + length (fields head')) rest
      Left message -> die ("request " ++ show (requests + 1) ++ ": " ++ show message)
