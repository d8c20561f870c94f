-- The health of a WindowsPool in Argo CD. Argo CD provides no string, math and io libraries to this script.
local health = { status = "Progressing", message = "The operator has not reconciled this generation of the pool yet." }

-- Conditions of an older generation do not describe the manifest that was just applied.
local status = obj.status
if status == nil or status.conditions == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end

local conditions = {}
for _, condition in ipairs(status.conditions) do
  conditions[condition.type] = condition
end

local function holds(type)
  return conditions[type] ~= nil and conditions[type].status == "True"
end

local ready = conditions["Ready"]
if ready == nil then
  return health
end

-- A paused pool has the same health as if it were not paused. If it were Suspended, a sync with later waves would run forever, and Argo CD would
-- never sync the commit that resumes the pool.
local prefix = ""
if holds("Paused") then
  prefix = conditions["Paused"].message .. " "
end
local function health_of(status, message)
  return { status = status, message = prefix .. message }
end

-- Needs a manual change, so the sync must not wait. Ready has the whole cause.
if holds("Stalled") then
  return health_of("Degraded", ready.message)
end

-- Also if the pool is Ready, as during a rolling update: the next sync wave waits for it, as for the rollout of a Deployment.
if holds("Reconciling") then
  local of_ready = ready.status ~= "True" and ready.reason == conditions["Reconciling"].reason
  return health_of("Progressing", of_ready and ready.message or conditions["Reconciling"].message)
end

if ready.status ~= "True" then
  return health_of("Degraded", ready.message)
end

-- The pool is Ready, but other conditions need attention.
local message = ready.message
for _, type in ipairs({ "PrerequisitesMet", "NodeGroupReady", "MachinesReady", "NodesFound", "NodesVerified", "UpToDate" }) do
  if conditions[type] ~= nil and conditions[type].status == "False" then
    message = message .. " " .. conditions[type].message
  end
end
return health_of("Healthy", message)
