// What a model owns: a claim, a Job that downloads onto it, a Deployment that serves from it, a Service before that.
package main

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func objectMeta(m *MLModel, suffix string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: m.Name + suffix, Namespace: m.Namespace, Labels: labels(m)}
}

func labels(m *MLModel) map[string]string {
	return map[string]string{"app.kubernetes.io/name": m.Name, "app.kubernetes.io/managed-by": "peer"}
}

func desiredPVC(m *MLModel) (*corev1.PersistentVolumeClaim, error) {
	size, err := resource.ParseQuantity(m.Spec.StorageSize)
	if err != nil {
		return nil, err
	}
	return &corev1.PersistentVolumeClaim{ObjectMeta: objectMeta(m, "-data"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
	}}, nil
}

func dataVolume(m *MLModel) ([]corev1.Volume, []corev1.VolumeMount) {
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: m.Name + "-data"}
	return []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}}},
		[]corev1.VolumeMount{{Name: "data", MountPath: "/models"}}
}

func desiredJob(m *MLModel) *batchv1.Job {
	backoff := int32(3)
	volumes, mounts := dataVolume(m)
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Volumes: volumes, Containers: []corev1.Container{{
		Name: "download", Image: "curlimages/curl:8", Args: []string{"-fLo", "/models/model", m.Spec.ModelURL}, VolumeMounts: mounts,
	}}}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/managed-by": "peer"}},
		Spec:       pod,
	}
	return &batchv1.Job{ObjectMeta: objectMeta(m, "-download"), Spec: batchv1.JobSpec{BackoffLimit: &backoff, Template: template}}
}

func desiredDeployment(m *MLModel) *appsv1.Deployment {
	replicas := m.Spec.Replicas
	volumes, mounts := dataVolume(m)
	pod := corev1.PodSpec{Volumes: volumes, Containers: []corev1.Container{{
		Name: "server", Image: "peer/" + m.Spec.Framework + ":1", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Env: []corev1.EnvVar{{Name: "MODEL", Value: "/models/model"}}, VolumeMounts: mounts,
	}}}
	return &appsv1.Deployment{ObjectMeta: objectMeta(m, ""), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labels(m)},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels(m)}, Spec: pod},
	}}
}

func desiredService(m *MLModel) *corev1.Service {
	ports := []corev1.ServicePort{{Name: "http", Port: 8080, TargetPort: intstr.FromString("http")}}
	return &corev1.Service{ObjectMeta: objectMeta(m, ""), Spec: corev1.ServiceSpec{Selector: labels(m), Ports: ports}}
}
