// Command render renders a Helm chart, like helm template, and checks the objects as strictly as an
// API server: an unknown field or a value of the wrong type is an error.
//
//	render CHART < values.yaml
//
// It prints the objects for a release named try. It is a separate module, so that petrigate does
// not depend on Helm.
package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: render CHART < values.yaml")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func run(dir string, in io.Reader, out io.Writer) error {
	files, err := render(dir, in)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if strings.TrimSpace(text) == "" { // a file with helper templates only, or a disabled template
			continue
		}
		object, _, err := strict.Decode([]byte(text), nil, nil)
		if err == nil {
			err = fits(object)
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, text)
		}
		fmt.Fprintf(out, "---\n# Source: %s\n%s\n", name, text)
	}
	return nil
}

// render renders the chart in dir with the YAML values that it reads from in. It returns the
// rendered templates, keyed by file name. It returns an error if the values violate the chart's
// schema.
func render(dir string, in io.Reader) (map[string]string, error) {
	chart, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	given, err := chartutil.ReadValues(text)
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "try", Namespace: "default", Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, given, release, nil)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, values)
}

// fits returns an error if a deployment contains a mistake that API servers reject: a selector that
// does not match the pod's labels, or a mount of an unknown volume.
func fits(object runtime.Object) error {
	d, ok := object.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	pod := d.Spec.Template
	for key, value := range d.Spec.Selector.MatchLabels {
		if pod.Labels[key] != value {
			return fmt.Errorf("the selector asks for %s: %s, which pods do not have", key, value)
		}
	}
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range pod.Spec.Containers {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				return fmt.Errorf("container %s mounts %s, which is no volume", c.Name, m.Name)
			}
		}
	}
	return nil
}
