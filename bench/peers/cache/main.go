// Fills controller-runtime's cache with the parents and children of the bench, as an idiomatic Go operator would:
// typed objects for Kubernetes' own kinds (which come as protobuf), unstructured ones for the custom kind, children
// chosen on the server by label. Says one line of JSON when it is synced and one for every line on standard input.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	. "baton.dev/bench/usage"
)

func main() {
	began := time.Now()
	kubeconfig := flag.String("kubeconfig", "", "where the cluster is")
	strip := flag.Bool("strip", false, "drop managedFields before an object enters the cache")
	flag.Parse()
	log.SetLogger(logr.Discard())
	objects, err := fill(context.Background(), *kubeconfig, *strip)
	Must(err)
	Say(map[string]any{"objects": objects, "ms": Milliseconds(time.Since(began)), "cpu": CPU()})
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		if input.Text() == "collect" {
			runtime.GC()
			debug.FreeOSMemory()
		}
		Say(map[string]any{"cpu": CPU()})
	}
}

// fill starts the cache and waits until it holds everything.
func fill(ctx context.Context, kubeconfig string, strip bool) (int, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return 0, err
	}
	config.QPS = -1
	children := []client.Object{&appsv1.Deployment{}, &batchv1.Job{}, &corev1.PersistentVolumeClaim{}}
	store, err := cache.New(config, options(children, strip))
	if err != nil {
		return 0, err
	}
	kinds := append([]client.Object{parent()}, children...)
	for _, kind := range kinds {
		if _, err := store.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return 0, err
		}
	}
	go func() { fmt.Fprintln(os.Stderr, store.Start(ctx)) }()
	if !store.WaitForCacheSync(ctx) {
		return 0, fmt.Errorf("the cache did not become whole")
	}
	return count(ctx, store)
}

func options(children []client.Object, strip bool) cache.Options {
	ours := labels.SelectorFromSet(labels.Set{"baton.dev/kind": "Trio"})
	options := cache.Options{Scheme: scheme.Scheme, ByObject: map[client.Object]cache.ByObject{}}
	for _, kind := range children {
		options.ByObject[kind] = cache.ByObject{Label: ours}
	}
	if strip {
		options.DefaultTransform = cache.TransformStripManagedFields()
	}
	return options
}

func parent() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "test.baton.dev", Version: "v1alpha1", Kind: "Trio"})
	return object
}

// count reads the cache without copying: what it holds is measured, not what a reader makes of it.
func count(ctx context.Context, store cache.Cache) (int, error) {
	trios := &unstructured.UnstructuredList{}
	trios.SetGroupVersionKind(schema.GroupVersionKind{Group: "test.baton.dev", Version: "v1alpha1", Kind: "TrioList"})
	deployments, jobs, claims := &appsv1.DeploymentList{}, &batchv1.JobList{}, &corev1.PersistentVolumeClaimList{}
	for _, list := range []client.ObjectList{trios, deployments, jobs, claims} {
		if err := store.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return 0, err
		}
	}
	return len(trios.Items) + len(deployments.Items) + len(jobs.Items) + len(claims.Items), nil
}
