-- wrk: bursts of 20 requests.
init = function()
  local requests = {}
  for i = 1, 20 do
    requests[i] = wrk.format("GET", wrk.path)
  end
  burst = table.concat(requests)
end

request = function()
  return burst
end
