-- Argo CD's health check of a YurtAppDaemon. It does not need libraries, so useOpenLibs can stay off.
local health = {}

local status = obj.status
if status == nil or status.conditions == nil then
  health.status = "Progressing"
  health.message = "the operator has not written a status yet"
  return health
end
if status.observedGeneration ~= obj.metadata.generation then
  health.status = "Progressing"
  health.message = "the operator has not observed this spec yet"
  return health
end

local conditions = {}
for _, condition in ipairs(status.conditions) do
  conditions[condition.type] = condition
end
local function is(type, value)
  return conditions[type] ~= nil and conditions[type].status == value
end
local function result(name, type)
  local condition = conditions[type]
  health.status = name
  health.message = condition ~= nil and condition.message or ""
  return health
end

-- The rollout has failed, or the spec is invalid.
if is("Progressing", "False") then
  return result("Degraded", "Progressing")
end
-- Paused, or waiting for an approval.
if is("Progressing", "Unknown") then
  return result("Suspended", "Progressing")
end
if is("Reconciling", "True") then
  return result("Progressing", "Reconciling")
end
-- Every selected pool is Offline.
if is("Ready", "Unknown") then
  return result("Suspended", "Ready")
end
-- The rollout continues by itself, when sites return or when the time comes.
local waits = {SitesOffline = true, WaitingForWindow = true, Frozen = true}
if conditions.Progressing ~= nil and waits[conditions.Progressing.reason] then
  return result("Suspended", "Progressing")
end
if is("Degraded", "True") then
  return result("Degraded", "Degraded")
end
if is("Ready", "True") then
  return result("Healthy", "Progressing")
end
return result("Progressing", "Ready")
