{-# LANGUAGE OverloadedStrings #-}
-- A fast route and a slow one, on Warp. fast_slow PORT
import Data.ByteString.Builder
import qualified Data.Text as T
import Network.HTTP.Types
import Network.Wai
import Network.Wai.Handler.Warp
import System.Environment

main :: IO ()
main = do
  [port] <- getArgs
  runSettings (setHost "127.0.0.1" (setPort (read port) defaultSettings)) route

route :: Application
route request answer = case pathInfo request of
  ["fib", n] -> answer (responseBuilder status200 text (intDec (fib (read (T.unpack n))) <> "\n"))
  _ -> answer (responseBuilder status200 (("Content-Length", "7") : text) "Pong!\r\n")
  where
    text = [("Content-Type", "text/plain")]

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
