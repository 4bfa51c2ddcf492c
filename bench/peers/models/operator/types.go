// The kind of the operator: what a model needs to say, and what is told of it.
package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "peer.dev", Version: "v1"}

type MLModelSpec struct {
	ModelURL    string `json:"modelURL"`
	StorageSize string `json:"storageSize,omitempty"`
	Framework   string `json:"framework,omitempty"`
	Replicas    int32  `json:"replicas"`
	Expose      bool   `json:"expose"`
}

type MLModelStatus struct {
	Phase              string             `json:"phase,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	ServiceEndpoint    string             `json:"serviceEndpoint,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type MLModel struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MLModelSpec   `json:"spec"`
	Status            MLModelStatus `json:"status,omitempty"`
}

type MLModelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MLModel `json:"items"`
}

func (in *MLModel) DeepCopy() *MLModel {
	out := &MLModel{TypeMeta: in.TypeMeta, Spec: in.Spec, Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if in.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(in.Status.Conditions))
		for i := range in.Status.Conditions {
			in.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
	return out
}

func (in *MLModel) DeepCopyObject() runtime.Object { return in.DeepCopy() }

func (in *MLModelList) DeepCopyObject() runtime.Object {
	out := &MLModelList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return out
}

func addToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(groupVersion, &MLModel{}, &MLModelList{})
	metav1.AddToGroupVersion(s, groupVersion)
	return nil
}
