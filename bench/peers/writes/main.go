// Applies objects with client-go's dynamic client, as an idiomatic Go program does once its rate limit is lifted. Reads
// one run a line as JSON from standard input, and answers each with a line of JSON: the time it took and the CPU it cost.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	. "baton.dev/bench/usage"
)

// run is one measurement: so many writes by so many workers, spread over so many objects made from the template.
type run struct {
	Template map[string]any `json:"template"`
	Objects  int            `json:"objects"`
	Writes   int            `json:"writes"`
	Workers  int            `json:"workers"`
	Label    string         `json:"label"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "where the cluster is")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	Must(err)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	Must(err)
	resource := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	for input.Scan() {
		var asked run
		Must(json.Unmarshal(input.Bytes(), &asked))
		began, before := time.Now(), CPU()
		Must(asked.carryOut(resource))
		Say(map[string]any{"ms": Milliseconds(time.Since(began)), "cpu": CPU() - before})
	}
}

// carryOut shares the objects out among the workers, so that no two of them write the same one.
func (asked run) carryOut(resource dynamic.NamespaceableResourceInterface) error {
	var all sync.WaitGroup
	failed := make(chan error, asked.Workers)
	for worker := range asked.Workers {
		all.Go(func() {
			for index := worker; index < asked.Writes; index += asked.Workers {
				if err := asked.write(resource, index); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

func (asked run) write(resource dynamic.NamespaceableResourceInterface, index int) error {
	object := asked.object(index)
	options := metav1.ApplyOptions{FieldManager: "baton", Force: true}
	_, err := resource.Namespace(object.GetNamespace()).Apply(context.Background(), object.GetName(), object, options)
	return err
}

// object copies no more of the template than differs.
func (asked run) object(index int) *unstructured.Unstructured {
	object := maps.Clone(asked.Template)
	metadata := maps.Clone(object["metadata"].(map[string]any))
	metadata["name"] = fmt.Sprintf("%s-%d", metadata["name"], index%asked.Objects)
	metadata["annotations"] = map[string]any{"bench.baton.dev/write": fmt.Sprintf("%s-%d", asked.Label, index)}
	object["metadata"] = metadata
	return &unstructured.Unstructured{Object: object}
}
