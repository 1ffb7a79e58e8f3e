{-# LANGUAGE OverloadedStrings #-}
-- Doubles numbers, a line each; `end` closes. doubling PORT
import qualified Data.ByteString.Char8 as B
import Data.Conduit
import qualified Data.Conduit.Binary as CB
import Data.Conduit.Network
import System.Environment

main :: IO ()
main = do
  [port] <- getArgs
  runTCPServer (serverSettings (read port) "127.0.0.1") $ \connection ->
    runConduit $ appSource connection .| CB.lines .| answers .| appSink connection

answers :: Monad m => ConduitT B.ByteString B.ByteString m ()
answers = await >>= maybe (return ()) answer
  where
    answer "end" = yield "Thank you\n"
    answer line = do
      yield $ case B.readInt line of
        Just (number, "") -> B.pack (show (2 * number) ++ "\n")
        _ -> "not an integer\n"
      answers
