package registry_test

import (
	"fmt"
	"testing"

	"toolroom/internal/registry"
	"toolroom/internal/store"
	"toolroom/tool"
)

// crowded is a registry with n tools in a workspace, stored in one go.
func crowded(b testing.TB, n int) *registry.Registry {
	b.Helper()
	s := openStore(b)
	writes := make([]store.Write, n)
	for i := range writes {
		d := definition(fmt.Sprintf("tool_%05d_x", i))
		d.Grant = tool.Grant{Net: tool.AnyName(), Call: tool.AnyName(), Files: tool.NoFiles}
		writes[i] = store.Write{Place: place(), Name: d.Name, Source: tool.ByUser, Enabled: true, Action: store.Created,
			Version: &tool.Version{Definition: d}, Words: store.Words{Name: d.Name, Description: d.Description}}
	}
	if _, err := s.Apply(b.Context(), writes); err != nil {
		b.Fatal(err)
	}
	return over(b, s)
}

func sizes(b *testing.B, run func(b *testing.B, r *registry.Registry, n int)) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("%d tools", n), func(b *testing.B) { run(b, crowded(b, n), n) })
	}
}

func BenchmarkResolve(b *testing.B) {
	sizes(b, func(b *testing.B, r *registry.Registry, n int) {
		name := fmt.Sprintf("tool_%05d_x", n/2)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Resolve(b.Context(), place(), name); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkListPage(b *testing.B) {
	sizes(b, func(b *testing.B, r *registry.Registry, n int) {
		first, err := r.List(b.Context(), place(), registry.ListOptions{Limit: max(1, n/2)})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := r.List(b.Context(), place(), registry.ListOptions{Cursor: first.Next, Limit: 100}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	sizes(b, func(b *testing.B, r *registry.Registry, n int) {
		for b.Loop() {
			if _, err := r.Search(b.Context(), place(), "adds 00005", 20); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	sizes(b, func(b *testing.B, r *registry.Registry, _ int) {
		for i := 0; b.Loop(); i++ {
			if _, err := r.Update(b.Context(), user(), "tool_00005_x", tool.Patch{Body: to(fmt.Sprintf("return %d", i))}, registry.ChangeOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
