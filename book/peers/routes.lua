-- wrk: requests over the fifty routes of examples/routes in turns, one in six of them a POST.
local kinds = {
  "articles", "authors", "carts", "comments", "customers", "invoices", "orders", "payments", "products", "reviews",
}
local json = { ["Content-Type"] = "application/json" }
local thing = '{"name":"A yard of ribbon","price":250,"tags":["silk","red"]}'

init = function()
  requests, turn = {}, 0
  for number, kind in ipairs(kinds) do
    local path = "/api/" .. kind
    local one = path .. "/" .. number * 37
    table.insert(requests, wrk.format("GET", path .. "?from=40&count=20"))
    table.insert(requests, wrk.format("GET", one))
    table.insert(requests, wrk.format("GET", one .. "/name"))
    table.insert(requests, wrk.format("GET", one .. "/parts?from=1&count=5"))
    table.insert(requests, wrk.format("GET", one .. "/parts/left-sleeve"))
    table.insert(requests, wrk.format("POST", path, json, thing))
  end
end

request = function()
  turn = turn % #requests + 1
  return requests[turn]
end
