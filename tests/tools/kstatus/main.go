// kstatus prints the status that kstatus computes for each object on stdin: Helm 4, Flux and kpt wait by this status.
//
// Stdin holds JSON: objects one after the other, or arrays of objects. Each object gives one line: the status, a tab,
// the message on one line. An object that kstatus can't read gives "Unreadable" and the error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// describe returns the line of one object.
func describe(text json.RawMessage) string {
	name, message := judge(text)
	return name + "\t" + strings.Join(strings.Fields(message), " ")
}

func judge(text json.RawMessage) (name, message string) {
	object := &unstructured.Unstructured{}
	// This reader keeps integers as int64, which status.Compute needs for generations.
	if err := object.UnmarshalJSON(text); err != nil {
		return "Unreadable", err.Error()
	}
	result, err := status.Compute(object)
	if err != nil {
		return "Unreadable", err.Error()
	}
	return string(result.Status), result.Message
}

func run(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	for {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		objects := []json.RawMessage{value}
		if value[0] == '[' {
			if err := json.Unmarshal(value, &objects); err != nil {
				return err
			}
		}
		for _, object := range objects {
			if _, err := fmt.Fprintln(out, describe(object)); err != nil {
				return err
			}
		}
	}
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kstatus:", err)
		os.Exit(1)
	}
}
