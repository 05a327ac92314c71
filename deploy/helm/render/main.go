// Renders the chart as `helm template` does, where helm is not available. It has the same template engine, the
// functions of sprig and Helm's own that charts of this repository use (include, toYaml, toJson, required, fail), and
// merges values the same way. It does not order hooks, and a function that is missing here is an error.
//
// usage: render CHART NAMESPACE RELEASE VALUES.yaml…   Writes the documents to standard output.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type files struct{ chart string }

// Get returns the text of a file of the chart, or nothing where it is missing, as Helm does.
func (f files) Get(name string) string {
	text, _ := os.ReadFile(filepath.Join(f.chart, name))
	return string(text)
}

func main() {
	log.SetFlags(0)
	chart, namespace, release := os.Args[1], os.Args[2], os.Args[3]
	values := readYaml(filepath.Join(chart, "values.yaml"))
	for _, file := range os.Args[4:] {
		values = merge(values, readYaml(file))
	}
	described := readYaml(filepath.Join(chart, "Chart.yaml"))
	context := map[string]interface{}{
		"Values":  values,
		"Chart":   map[string]interface{}{"Name": described["name"], "Version": described["version"], "AppVersion": described["appVersion"]},
		"Release": map[string]interface{}{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1},
		"Files":   files{chart},
	}
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(sprig.TxtFuncMap()).Funcs(template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var text bytes.Buffer
			err := all.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"toYaml": func(value interface{}) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"required": func(why string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, fmt.Errorf("%s", why)
			}
			return value, nil
		},
	})
	names, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(names)
	for _, name := range names {
		text, err := os.ReadFile(name)
		check(err)
		_, err = all.New(filepath.Base(name)).Parse(string(text))
		check(err)
	}
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		var text bytes.Buffer
		check(all.ExecuteTemplate(&text, filepath.Base(name), context))
		// Helm prints <no value> as nothing.
		fmt.Printf("---\n# Source: %s\n%s\n", filepath.Base(name), strings.ReplaceAll(text.String(), "<no value>", ""))
	}
}

func readYaml(file string) map[string]interface{} {
	text, err := os.ReadFile(file)
	check(err)
	read := map[string]interface{}{}
	check(yaml.UnmarshalStrict(text, &read))
	return read
}

// merge lays `over` on `under`: maps key by key, any other value as a whole.
func merge(under, over map[string]interface{}) map[string]interface{} {
	for key, value := range over {
		lower, isMap := under[key].(map[string]interface{})
		if upper, isToo := value.(map[string]interface{}); isMap && isToo {
			under[key] = merge(lower, upper)
		} else {
			under[key] = value
		}
	}
	return under
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
