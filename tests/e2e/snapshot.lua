-- SPDX-License-Identifier: GPL-2.0-or-later
-- Of the newest snapshot of the fleet `test`: its id, its maker and its position in the log. Then how many chunks and Bloom
-- digests the server has of any snapshot, and how many of them do not expire. The server itself runs it.
local manifest = redis.call('GET', KEYS[1])

local function hex(first, last)
	return (manifest:sub(first, last):gsub('.', function(byte) return ('%02x'):format(byte:byte()) end))
end

local function number(at)
	local value, scale = 0, 1
	while true do
		local byte = manifest:byte(at)
		value, scale, at = value + byte % 128 * scale, scale * 128, at + 1
		if byte < 128 then
			return value, at
		end
	end
end

if not manifest then
	return false
end
local _, at = number(34)
_, at = number(at) -- behind time and term; the epoch follows
local position, chunks, lasting = number(at + 16), 0, 0
for _, kind in ipairs({'chunk', 'bloom'}) do
	for _, key in ipairs(redis.call('KEYS', 'xb:{test}:' .. kind .. ':*')) do
		chunks = chunks + 1
		lasting = lasting + (redis.call('TTL', key) == -1 and 1 or 0)
	end
end
return ('%s %s %.0f %d %d'):format(hex(2, 17), hex(18, 33), position, chunks, lasting)
