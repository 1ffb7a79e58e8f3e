#!/bin/sh
echo "Content-Type: text/plain"
echo
echo "Hello, ${REMOTE_ADDR:-whoever you are}. You asked for ${REQUEST_URI:-something}."
