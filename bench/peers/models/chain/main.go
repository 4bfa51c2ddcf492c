// The floor for any operator: raw watches and nothing remembered but what was done; the next object is written when the
// one before is done. It makes the same objects and statuses as the operator, and heals nothing.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	. "baton.dev/bench/usage"
)

const (
	namespace = "models"
	workers   = 20
)

var (
	models      = schema.GroupVersionResource{Group: "peer.dev", Version: "v1", Resource: "mlmodels"}
	claims      = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	client      dynamic.Interface
	waitPVC     = flag.Bool("wait-pvc", false, "create the Job only when the claim is bound (needs Immediate binding)")
)

type object = map[string]any

func main() {
	kubeconfig := flag.String("kubeconfig", "", "where the cluster is")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	Must(err)
	config.QPS = -1
	client, err = dynamic.NewForConfig(config)
	Must(err)
	work := make(chan func(), 1<<16)
	for range workers {
		go func() {
			for step := range work {
				step()
			}
		}()
	}
	for resource, next := range steps {
		go follow(resource, work, next)
	}
	select {}
}

// steps say for each resource what follows from the state of an object, once it is there.
var steps = map[schema.GroupVersionResource]func(*unstructured.Unstructured) func(){
	models: func(u *unstructured.Unstructured) func() {
		owner := ownerOf(u)
		return func() {
			create(claims, claim(owner))
			if !*waitPVC {
				create(jobs, job(owner))
			}
			tell(owner.name, "Downloading", "False")
		}
	},
	claims: func(u *unstructured.Unstructured) func() {
		if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); !*waitPVC || phase != "Bound" {
			return nil
		}
		owner := parentOf(u)
		return func() { create(jobs, job(owner)) }
	},
	jobs: func(u *unstructured.Unstructured) func() {
		if !isComplete(u) {
			return nil
		}
		owner := parentOf(u)
		return func() {
			create(deployments, deployment(owner))
			create(services, service(owner))
			tell(owner.name, "Deploying", "False")
		}
	},
	deployments: func(u *unstructured.Unstructured) func() {
		if available, _, _ := unstructured.NestedInt64(u.Object, "status", "availableReplicas"); available != 1 {
			return nil
		}
		owner := parentOf(u)
		return func() { tell(owner.name, "Ready", "True") }
	},
}

// follow watches one resource for ever and hands each object's step to the workers, once.
func follow(resource schema.GroupVersionResource, work chan<- func(), next func(*unstructured.Unstructured) func()) {
	done := map[string]bool{}
	take := func(u *unstructured.Unstructured) {
		if done[u.GetName()] {
			return
		}
		if step := next(u); step != nil {
			done[u.GetName()] = true
			work <- step
		}
	}
	for {
		list, err := client.Resource(resource).Namespace(namespace).List(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
		Must(err)
		for i := range list.Items {
			take(&list.Items[i])
		}
		options := metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}
		watch, err := client.Resource(resource).Namespace(namespace).Watch(context.Background(), options)
		Must(err)
		for event := range watch.ResultChan() {
			if u, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != "DELETED" {
				take(u)
			}
		}
	}
}

type owner struct {
	name string
	uid  string
}

func ownerOf(u *unstructured.Unstructured) owner { return owner{u.GetName(), string(u.GetUID())} }

func parentOf(u *unstructured.Unstructured) owner {
	parent := u.GetOwnerReferences()[0]
	return owner{parent.Name, string(parent.UID)}
}

func isComplete(u *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, condition := range conditions {
		if c, ok := condition.(object); ok && c["type"] == "Complete" && c["status"] == "True" {
			return true
		}
	}
	return false
}

func create(resource schema.GroupVersionResource, o object) {
	_, err := client.Resource(resource).Namespace(namespace).
		Create(context.Background(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
	Must(err)
}

func tell(name, phase, ready string) {
	condition := object{
		"type": "Ready", "status": ready, "reason": phase, "message": "the chain says " + strings.ToLower(phase),
		"observedGeneration": 1, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}
	body, err := json.Marshal(object{"status": object{
		"phase": phase, "observedGeneration": 1, "serviceEndpoint": "http://" + name + "." + namespace + ".svc:8080",
		"conditions": []any{condition},
	}})
	Must(err)
	_, err = client.Resource(models).Namespace(namespace).
		Patch(context.Background(), name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
	Must(err)
}
