// The objects of a model, as the operator makes them.
package main

func labels(o owner) object {
	return object{"app.kubernetes.io/name": o.name, "app.kubernetes.io/managed-by": "peer"}
}

func metadata(o owner, suffix string) object {
	return object{"name": o.name + suffix, "namespace": namespace, "labels": labels(o), "ownerReferences": []any{object{
		"apiVersion": "peer.dev/v1", "kind": "MLModel", "name": o.name, "uid": o.uid,
		"controller": true, "blockOwnerDeletion": true,
	}}}
}

func volumes(o owner) []any {
	return []any{object{"name": "data", "persistentVolumeClaim": object{"claimName": o.name + "-data"}}}
}

var mounts = []any{object{"name": "data", "mountPath": "/models"}}

func claim(o owner) object {
	return object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata(o, "-data"), "spec": object{
		"accessModes": []any{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "1Gi"}},
	}}
}

func job(o owner) object {
	pod := object{"restartPolicy": "Never", "volumes": volumes(o), "containers": []any{object{
		"name": "download", "image": "curlimages/curl:8", "volumeMounts": mounts,
		"args": []any{"-fLo", "/models/model", "https://models.example/" + o.name + ".onnx"},
	}}}
	template := object{"metadata": object{"labels": object{"app.kubernetes.io/managed-by": "peer"}}, "spec": pod}
	return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(o, "-download"),
		"spec": object{"backoffLimit": int64(3), "template": template}}
}

func deployment(o owner) object {
	pod := object{"volumes": volumes(o), "containers": []any{object{
		"name": "server", "image": "peer/onnx:1", "volumeMounts": mounts,
		"ports": []any{object{"name": "http", "containerPort": int64(8080)}},
		"env":   []any{object{"name": "MODEL", "value": "/models/model"}},
	}}}
	return object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(o, ""), "spec": object{
		"replicas": int64(1), "selector": object{"matchLabels": labels(o)},
		"template": object{"metadata": object{"labels": labels(o)}, "spec": pod},
	}}
}

func service(o owner) object {
	return object{"apiVersion": "v1", "kind": "Service", "metadata": metadata(o, ""), "spec": object{
		"selector": labels(o), "ports": []any{object{"name": "http", "port": int64(8080), "targetPort": "http"}},
	}}
}
