{{- /* The status of a simulated pod as a kubelet writes it: one Go template for every step of its life. In front of it
       stand $here and $others (what has become of the container concerned, and of the other ones), $waiting and $text
       (why it waits, if it does), $finish ("Failed" if the pod is brought to an end from outside, or ""), and $download
       and $lastWord (which component downloads, and what it says at its end). */ -}}

{{- /* What the annotations ask for. */ -}}
{{- $now := Now -}}
{{- $notes := .metadata.annotations | default dict -}}
{{- $names := list -}}
{{- range concat (.spec.initContainers | default list) .spec.containers }}{{ $names = append $names .name }}{{ end -}}
{{- with index $notes "sim.baton.dev/container" }}{{ if not (has . $names) }}{{ $notes = dict }}{{ end }}{{ end -}}
{{- $fault := index $notes "sim.baton.dev/fault" | default "" -}}
{{- $message := index $notes "sim.baton.dev/message" | default "" -}}
{{- $code := index $notes "sim.baton.dev/exit-code" | default (ternary "1" "0" (eq $fault "crash")) -}}
{{- $reason := ternary "Completed" "Error" (eq $code "0") -}}
{{- if eq $fault "oom-killed" }}{{ $code = "137" }}{{ $reason = "OOMKilled" }}{{ end -}}

{{- /* A download that nobody asked to fail says what it fetched: the same for the same source. */ -}}
{{- $word := "" -}}
{{- if and (eq (index (.metadata.labels | default dict) "app.kubernetes.io/component" | default "") $download) (not $fault) (eq $code "0") (not $message) -}}
  {{- $arguments := (index .spec.containers 0).args | default (list "") -}}
  {{- $digest := printf "sha256:%s" (last $arguments | sha256sum) -}}
  {{- range $arguments }}{{ if hasPrefix "--digest=" . }}{{ $digest = trimPrefix "--digest=" . }}{{ end }}{{ end -}}
  {{- $word = replace "DIGEST" $digest $lastWord -}}
{{- end -}}
{{- $initContainers := .spec.initContainers | default list -}}
{{- $concerned := index $notes "sim.baton.dev/container" | default (index .spec.containers 0).name -}}

{{- /* An init container that does not end well holds the whole pod up. */ -}}
{{- $stuck := false -}}
{{- $blocked := or (eq $fault "image-pull-error") (eq $fault "config-error") -}}
{{- range $initContainers -}}
  {{- if and (eq .name $concerned) (or $blocked (ne $code "0")) }}{{ $stuck = true }}{{ end -}}
{{- end -}}
{{- $crashing := and (eq .spec.restartPolicy "Always") (ne $code "0") -}}
{{- $slow := hasKey $notes "sim.baton.dev/ready-delay" -}}
{{- if eq $here "starting" }}{{ $here = ternary "unready" "running" (or $stuck $crashing $slow (eq $fault "not-ready")) }}{{ end -}}

{{- /* What the status said before. */ -}}
{{- $before := dict -}}
{{- range concat (.status.initContainerStatuses | default list) (.status.containerStatuses | default list) -}}
  {{- $_ := set $before .name . -}}
{{- end -}}

{{- /* One status for each container, init containers first. */ -}}
{{- $initStatuses := list -}}
{{- $statuses := list -}}
{{- $incomplete := list -}}
{{- $unready := list -}}
{{- $beyond := false -}}
{{- range $index, $container := concat $initContainers .spec.containers -}}
  {{- $first := lt $index (len $initContainers) -}}
  {{- $mine := eq $container.name $concerned -}}
  {{- $sidecar := and $first (eq ($container.restartPolicy | default "") "Always") -}}

  {{- $kind := ternary $here $others $mine -}}
  {{- if $first -}}
    {{- if eq $others "creating" }}{{ $kind = "creating" -}}
    {{- else if and $stuck $mine }}{{ $kind = $here -}}
    {{- else if and $stuck $beyond }}{{ $kind = "creating" -}}
    {{- else if and $sidecar (not (has $others (list "ended" "killed"))) }}{{ $kind = "running" -}}
    {{- else }}{{ $kind = "ended" }}{{ end -}}
    {{- if and $stuck $mine }}{{ $beyond = true }}{{ end -}}
  {{- else if $stuck }}{{ $kind = "creating" }}{{ end -}}

  {{- $was := index $before $container.name | default dict -}}
  {{- $count := $was.restartCount | default 0 | toString | atoi -}}
  {{- if has $kind (list "restarted" "resumed") }}{{ $count = add1 $count }}{{ end -}}
  {{- $id := printf "containerd://%s" (printf "%s/%s/%d" $.metadata.uid $container.name $count | sha256sum) -}}
  {{- $since := $now -}}
  {{- with $was.state }}{{ with .running }}{{ $since = .startedAt }}{{ end }}{{ end -}}
  {{- $last := $was.lastState | default dict -}}

  {{- $end := dict "exitCode" 0 "reason" "Completed" "startedAt" $since "finishedAt" $now "containerID" ($was.containerID | default $id) -}}
  {{- if and $mine (or (not $first) $stuck) }}{{ $_ := set $end "exitCode" (atoi $code) }}{{ $_ := set $end "reason" $reason }}{{ end -}}
  {{- if and $mine $message }}{{ $_ := set $end "message" $message }}{{ end -}}
  {{- if and $mine $word (eq $kind "ended") }}{{ $_ := set $end "message" $word }}{{ end -}}
  {{- if eq $kind "killed" }}{{ $_ := set $end "exitCode" 137 }}{{ $_ := set $end "reason" "Error" }}{{ end -}}
  {{- with $was.state }}{{ with .terminated }}{{ $end = . }}{{ end }}{{ end -}}

  {{- $state := dict "running" (dict "startedAt" $since) -}}
  {{- if eq $kind "creating" -}}
    {{- $state = dict "waiting" (dict "reason" (ternary "PodInitializing" "ContainerCreating" (gt (len $initContainers) 0))) -}}
  {{- else if eq $kind "waiting" -}}
    {{- $sentence := $message | default ($text | replace "IMAGE" $container.image) -}}
    {{- if eq $waiting "ImagePullBackOff" }}{{ $sentence = printf "Back-off pulling image %q: ErrImagePull: %s" $container.image $sentence }}{{ end -}}
    {{- $state = dict "waiting" (dict "reason" $waiting "message" $sentence) -}}
  {{- else if has $kind (list "ended" "killed") -}}
    {{- $state = dict "terminated" $end -}}
  {{- else if eq $kind "restarted" -}}
    {{- $last = dict "terminated" $end -}}
    {{- $state = dict "running" (dict "startedAt" $now) -}}
  {{- else if eq $kind "resumed" -}}
    {{- $state = dict "running" (dict "startedAt" $now) -}}
  {{- else if eq $kind "back-off" -}}
    {{- $last = dict "terminated" $end -}}
    {{- $sentence := printf "back-off 10s restarting failed container=%s pod=%s_%s(%s)" $container.name $.metadata.name $.metadata.namespace $.metadata.uid -}}
    {{- $state = dict "waiting" (dict "reason" "CrashLoopBackOff" "message" $sentence) -}}
  {{- end -}}

  {{- $done := and (eq $kind "ended") $first (eq (toString $end.exitCode) "0") -}}
  {{- $ready := or (eq $kind "running") $done -}}
  {{- $status := dict "name" $container.name "image" $container.image "imageID" "" "restartCount" $count -}}
  {{- $_ := set $status "ready" $ready -}}
  {{- $_ := set $status "started" (has $kind (list "running" "unready")) -}}
  {{- $_ := set $status "state" $state -}}
  {{- $_ := set $status "lastState" $last -}}
  {{- if not (has $kind (list "creating" "waiting")) -}}
    {{- $_ := set $status "imageID" (printf "%s@sha256:%s" (regexReplaceAll "(@.*|:[^/:]*)$" $container.image "") (sha256sum $container.image)) -}}
    {{- $_ := set $status "containerID" $id -}}
  {{- end -}}
  {{- if $first -}}
    {{- $initStatuses = append $initStatuses $status -}}
    {{- if not $ready }}{{ $incomplete = append $incomplete $container.name }}{{ end -}}
  {{- else -}}
    {{- $statuses = append $statuses $status -}}
    {{- if not $ready }}{{ $unready = append $unready $container.name }}{{ end -}}
  {{- end -}}
{{- end -}}

{{- /* The phase follows from the containers, unless the pod is ended from outside. */ -}}
{{- $over := or $finish (eq $here "ended") -}}
{{- $phase := "Running" -}}
{{- if or $stuck (has $here (list "creating" "waiting")) }}{{ $phase = "Pending" }}{{ end -}}
{{- if $over }}{{ $phase = $finish | default (ternary "Succeeded" "Failed" (eq $code "0")) }}{{ end -}}

{{- /* Conditions; a reason that no longer holds is taken away by null, and times change only with the status. */ -}}
{{- $wanted := list -}}
{{- $ending := ternary (ternary "PodCompleted" "PodFailed" (eq $phase "Succeeded")) "" (not (empty $over)) -}}
{{- $wanted = append $wanted (dict "type" "PodReadyToStartContainers" "status" (ternary "False" "True" (or (not (empty $over)) (eq $here "creating")))) -}}
{{- if $incomplete -}}
  {{- $wanted = append $wanted (dict "type" "Initialized" "status" "False" "reason" "ContainersNotInitialized" "message" (printf "containers with incomplete status: [%s]" (join " " $incomplete))) -}}
{{- else -}}
  {{- $wanted = append $wanted (dict "type" "Initialized" "status" "True" "reason" (ternary $ending nil (eq $phase "Succeeded"))) -}}
{{- end -}}
{{- range list "ContainersReady" "Ready" -}}
  {{- if $ending -}}
    {{- $wanted = append $wanted (dict "type" . "status" "False" "reason" $ending) -}}
  {{- else if $unready -}}
    {{- $wanted = append $wanted (dict "type" . "status" "False" "reason" "ContainersNotReady" "message" (printf "containers with unready status: [%s]" (join " " $unready))) -}}
  {{- else -}}
    {{- $wanted = append $wanted (dict "type" . "status" "True") -}}
  {{- end -}}
{{- end -}}
{{- if and $finish (eq $fault "evicted") -}}
  {{- $wanted = append $wanted (dict "type" "DisruptionTarget" "status" "True" "reason" "TerminationByKubelet" "message" $text) -}}
{{- end -}}
{{- $conditions := list -}}
{{- range $condition := $wanted -}}
  {{- $time := $now -}}
  {{- range $.status.conditions -}}
    {{- if and (eq .type $condition.type) (eq .status $condition.status) }}{{ $time = .lastTransitionTime }}{{ end -}}
  {{- end -}}
  {{- $full := merge $condition (dict "lastProbeTime" nil "lastTransitionTime" $time "observedGeneration" $.metadata.generation) -}}
  {{- range list "reason" "message" }}{{ if not (hasKey $full .) }}{{ $_ := set $full . nil }}{{ end }}{{ end -}}
  {{- $conditions = append $conditions $full -}}
{{- end -}}

{{- $status := dict "phase" $phase "conditions" $conditions "containerStatuses" $statuses "observedGeneration" .metadata.generation -}}
{{- if $initStatuses }}{{ $_ := set $status "initContainerStatuses" $initStatuses }}{{ end -}}
{{- $_ := set $status "startTime" (.status.startTime | default $now) -}}
{{- if and $finish (eq $fault "evicted") -}}
  {{- $_ := set $status "reason" "Evicted" -}}
  {{- $_ := set $status "message" ($message | default $text) -}}
{{- end -}}
{{- $hosts := NodeIPsWith .spec.nodeName -}}
{{- if $hosts -}}
  {{- $_ := set $status "hostIP" (index $hosts 0) -}}
  {{- $_ := set $status "hostIPs" (list (dict "ip" (index $hosts 0))) -}}
{{- end -}}
{{- if and (ne $here "creating") (not .status.podIP) -}}
  {{- $addresses := PodIPsWith .spec.nodeName (or .spec.hostNetwork false) (or .metadata.uid "") (or .metadata.name "") (or .metadata.namespace "") -}}
  {{- if $addresses -}}
    {{- $_ := set $status "podIP" (index $addresses 0) -}}
    {{- $_ := set $status "podIPs" (list (dict "ip" (index $addresses 0))) -}}
  {{- end -}}
{{- end -}}
{{- $status | toJson -}}
