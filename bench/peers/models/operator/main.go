// An operator for models as people write one with controller-runtime: claim, download Job, Deployment and Service, Ready.
// Reads from the cache, creates what is missing, patches the status when it changed; ten workers, no client rate limit.
package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	. "baton.dev/bench/usage"
)

type reconciler struct {
	client.Client
	waitPVC bool
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	model := &MLModel{}
	if err := r.Get(ctx, req.NamespacedName, model); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !model.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // owner references do the clean-up
	}
	before := model.DeepCopy()
	err := r.ensure(ctx, model)
	if err != nil {
		setReady(model, metav1.ConditionFalse, "Error", err.Error())
	}
	model.Status.ObservedGeneration = model.Generation
	if !equality.Semantic.DeepEqual(before.Status, model.Status) {
		patched := r.Status().Patch(ctx, model, client.MergeFrom(before))
		if client.IgnoreNotFound(patched) != nil && err == nil {
			err = patched
		}
	}
	return ctrl.Result{}, err
}

// ensure makes the next child once the one before is done.
func (r *reconciler) ensure(ctx context.Context, m *MLModel) error {
	pvc, err := desiredPVC(m)
	if err != nil {
		return err
	}
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.write(ctx, m, pvc, claim, nil); err != nil {
		return err
	}
	if r.waitPVC && claim.Status.Phase != corev1.ClaimBound {
		m.Status.Phase = "Pending"
		setReady(m, metav1.ConditionFalse, "Provisioning", "the volume is not bound yet")
		return nil
	}
	job := &batchv1.Job{}
	if err := r.write(ctx, m, desiredJob(m), job, nil); err != nil {
		return err
	}
	if done, failed := jobState(job); failed {
		m.Status.Phase = "Failed"
		setReady(m, metav1.ConditionFalse, "DownloadFailed", "the download Job failed")
		return nil
	} else if !done {
		m.Status.Phase = "Downloading"
		setReady(m, metav1.ConditionFalse, "Downloading", "the download Job is running")
		return nil
	}
	return r.serve(ctx, m)
}

func (r *reconciler) serve(ctx context.Context, m *MLModel) error {
	dep, wantDep := &appsv1.Deployment{}, desiredDeployment(m)
	if err := r.write(ctx, m, wantDep, dep, func() bool {
		if equality.Semantic.DeepDerivative(wantDep.Spec, dep.Spec) {
			return false
		}
		dep.Spec.Replicas, dep.Spec.Template.Spec = wantDep.Spec.Replicas, wantDep.Spec.Template.Spec
		return true
	}); err != nil {
		return err
	}
	if err := r.expose(ctx, m); err != nil {
		return err
	}
	replicas, status := m.Spec.Replicas, dep.Status
	observed := dep.Generation > 0 && status.ObservedGeneration >= dep.Generation
	if observed && status.AvailableReplicas == replicas && status.UpdatedReplicas == replicas {
		m.Status.Phase = "Ready"
		setReady(m, metav1.ConditionTrue, "Available", "all replicas are available")
	} else {
		m.Status.Phase = "Deploying"
		setReady(m, metav1.ConditionFalse, "Deploying", "the Deployment is rolling out")
	}
	return nil
}

func (r *reconciler) expose(ctx context.Context, m *MLModel) error {
	if !m.Spec.Expose {
		m.Status.ServiceEndpoint = ""
		return nil
	}
	svc, wantSvc := &corev1.Service{}, desiredService(m)
	m.Status.ServiceEndpoint = fmt.Sprintf("http://%s.%s.svc:8080", m.Name, m.Namespace)
	return r.write(ctx, m, wantSvc, svc, func() bool {
		if equality.Semantic.DeepDerivative(wantSvc.Spec, svc.Spec) {
			return false
		}
		svc.Spec.Ports, svc.Spec.Selector = wantSvc.Spec.Ports, wantSvc.Spec.Selector
		return true
	})
}

// write brings want into the cluster and leaves what is there in got: reads from the cache, creates if missing, updates
// when drift says so.
func (r *reconciler) write(ctx context.Context, m *MLModel, want, got client.Object, drift func() bool) error {
	if err := controllerutil.SetControllerReference(m, want, r.Scheme()); err != nil {
		return err
	}
	err := r.Get(ctx, client.ObjectKeyFromObject(want), got)
	if apierrors.IsNotFound(err) {
		return client.IgnoreAlreadyExists(r.Create(ctx, want))
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(got, m) {
		return fmt.Errorf("%T %s is not controlled by this MLModel", got, got.GetName())
	}
	if drift != nil && drift() {
		return r.Update(ctx, got)
	}
	return nil
}

func setReady(m *MLModel, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: status, Reason: reason, Message: message, ObservedGeneration: m.Generation,
	})
}

func jobState(j *batchv1.Job) (done, failed bool) {
	for _, c := range j.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			done, failed = done || c.Type == batchv1.JobComplete, failed || c.Type == batchv1.JobFailed
		}
	}
	return
}

func main() {
	waitPVC := flag.Bool("wait-pvc", false, "create the Job only when the claim is bound (needs Immediate binding)")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	Must(clientgoscheme.AddToScheme(scheme))
	Must(addToScheme(scheme))
	config := ctrl.GetConfigOrDie() // of the flag -kubeconfig
	config.QPS = -1
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	Must(err)
	Must(ctrl.NewControllerManagedBy(manager).
		For(&MLModel{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.PersistentVolumeClaim{}).Owns(&batchv1.Job{}).Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 10}).
		Complete(&reconciler{Client: manager.GetClient(), waitPVC: *waitPVC}))
	Must(manager.Start(ctrl.SetupSignalHandler()))
}
