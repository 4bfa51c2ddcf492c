-- The health of an MLModel, or of any other of our kinds, for Argo CD: what kstatus reads from it, in Argo CD's words. It uses nothing but the language itself,
-- because Argo CD opens neither the string nor the math library for scripts of a ConfigMap. How it is put there: docs/spec/argocd.md.

local function told(status, message)
  return { status = status, message = message or "" }
end

if obj.status == nil or obj.status.conditions == nil then
  return told("Progressing", "Waiting for the operator to look at it")
end

-- A word about an earlier generation is none about this one.
if obj.status.observedGeneration ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then
  return told("Progressing", "Waiting for the operator to look at the last edit")
end

local ready = nil
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Stalled" and condition.status == "True" then
    return told("Degraded", condition.message)
  end
  if condition.type == "Reconciling" and condition.status == "True" then
    return told("Progressing", condition.message)
  end
  if condition.type == "Ready" then
    ready = condition
  end
end

if ready == nil then
  return told("Progressing", "Waiting for the operator to look at it")
end
if ready.status == "True" then
  return told("Healthy", ready.message)
end
return told("Progressing", ready.message)
