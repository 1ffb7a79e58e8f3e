-- wrk: files in folders of 1,000, which chapters/small_files.py made. With "once N" those of N folders, each of them in a random
-- order, then it stops; with "any N" any of them, at random.
local each = 1000

local function path(number)
  return string.format("/%02d/%03d.html", math.floor(number / each), number % each)
end

init = function(arguments)
  math.randomseed(20261121)
  local count = tonumber(arguments[2]) * each
  requests = {}
  for number = 0, count - 1 do
    requests[number + 1] = wrk.format("GET", path(number))
  end
  for index = count, 2, -1 do
    local other = math.random(index)
    requests[index], requests[other] = requests[other], requests[index]
  end
  turn = 0
  if arguments[1] == "once" then
    local answered = 0
    response = function()
      answered = answered + 1
      if answered == count then
        wrk.thread:stop()
      end
    end
  else
    request = function()
      return requests[math.random(count)]
    end
  end
end

request = function()
  turn = turn % #requests + 1
  return requests[turn]
end
