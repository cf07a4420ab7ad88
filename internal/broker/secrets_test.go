package broker_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolroom/internal/broker"
	"toolroom/internal/broker/egress"
	"toolroom/internal/broker/secrets"
	"toolroom/tool"
)

const value = "s3cr3t/val ue+"

// withSecret is a session that has the secret "key", bound to hosts.
func withSecret(t *testing.T, o broker.Options, hosts ...string) (*broker.Session, string) {
	t.Helper()
	dir := t.TempDir()
	o.Secrets = secrets.NewStore(filepath.Join(dir, "secrets"), secrets.KeyFile(filepath.Join(dir, "key")))
	b := open(t, o)
	must(t, b.SetSecret(t.Context(), place, "key", []byte(value), hosts))
	s := session(t, b, all(t))
	standin, _, err := ask(s, "secrets.standin", `{"name":"key"}`)
	if err != nil {
		t.Fatal(err)
	}
	return s, strings.Trim(standin, `"`)
}

// TestSecretsGoOutAndDoNotComeBack has a server that says all it was told, in
// headers, status, body and redirects.
func TestSecretsGoOutAndDoNotComeBack(t *testing.T) {
	var seen sync.Map
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, password, _ := r.BasicAuth()
		for _, got := range []string{r.Header.Get("X-Key"), r.URL.Query().Get("k"), password, string(b), strings.TrimPrefix(r.URL.Path, "/p/")} {
			seen.Store(got, true)
		}
		w.Header().Set("X-Echo", r.Header.Get("X-Key"))
		if r.URL.Path == "/again" {
			w.Header().Set("Location", "/end?k="+r.URL.Query().Get("k"))
			w.WriteHeader(302)
			return
		}
		for _, c := range []byte(fmt.Sprintf("%s %s %s %s", r.Header, r.URL, b, password)) { // byte by byte
			_, _ = w.Write([]byte{c})
			w.(http.Flusher).Flush()
		}
	})
	s, standin := withSecret(t, broker.Options{Net: egress.Options{AllowPrivate: []string{addr}}}, addr)
	basic := base64.StdEncoding.EncodeToString([]byte("u:" + standin))
	for _, r := range []struct{ path, headers, body string }{
		{"/", `["X-Key","` + standin + `"]`, ""}, {"/p/" + standin, `["A","b"]`, ""}, {"/?k=" + standin, `["A","b"]`, ""}, {"/", `["Authorization","Basic ` + basic + `"]`, ""},
		{"/", `["Content-Type","application/json"]`, `{"k":"` + standin + `"}`}, {"/again?k=" + standin, `["A","b"]`, ""},
	} {
		method := "GET"
		if r.body != "" {
			method = "POST"
		}
		head, body, err := ask(s, "net.fetch", fmt.Sprintf(`{"url":"http://%s%s","method":%q,"headers":[%s]}`, addr, r.path, method, r.headers), r.body)
		for err == nil && strings.Contains(head, `"done":false`) {
			var more string
			var last struct{ Stream uint64 }
			must(t, json.Unmarshal([]byte(head), &last))
			var next string
			next, more, err = ask(s, "net.read", fmt.Sprintf(`{"stream":%d}`, last.Stream))
			body += more
			if strings.Contains(next, "true") {
				break
			}
		}
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		for _, spelled := range []string{"s3cr3t", base64.StdEncoding.EncodeToString([]byte("u:" + value))} {
			if strings.Contains(head+body, spelled) {
				t.Errorf("%+v: the answer shows the secret: %s %s", r, head, body)
			}
		}
		if !strings.Contains(head+body, standin) && !strings.Contains(head+body, basic) {
			t.Errorf("%+v: the stand-in is not back in place: %s %s", r, head, body)
		}
	}
	for _, arrived := range []string{value, `{"k":"` + value + `"}`} {
		if _, ok := seen.Load(arrived); !ok {
			t.Errorf("%s never arrived", arrived)
		}
	}
	if got := s.Redactor().String("log: " + value); got != "log: "+standin {
		t.Errorf("%s", got)
	}
}

func TestSecretsStayWithTheirHosts(t *testing.T) {
	var other sync.Map
	stranger := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		other.Store(fmt.Sprint(r.URL, r.Header, string(b)), true)
	})
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://"+stranger+"/?k="+r.URL.Query().Get("k")+"&h="+r.Header.Get("X-Key"))
		w.WriteHeader(307)
	})
	s, standin := withSecret(t, broker.Options{Net: egress.Options{AllowPrivate: []string{addr, stranger}}}, addr)
	for name, c := range map[string]struct {
		args, body string
		expect     tool.Code
	}{
		"url": {`{"url":"http://` + stranger + `/` + standin + `","method":"GET"}`, "", tool.SecretDenied}, "header": {`{"url":"http://` + stranger + `","method":"GET","headers":[["X","` + standin + `"]]}`, "", tool.SecretDenied},
		"body": {`{"url":"http://` + stranger + `","method":"POST"}`, standin, tool.SecretDenied}, "redirected query": {`{"url":"http://` + addr + `/?k=` + standin + `","method":"GET"}`, "", tool.SecretDenied},
		"redirected body": {`{"url":"http://` + addr + `/","method":"POST"}`, standin, tool.SecretDenied}, "echoed header": {`{"url":"http://` + addr + `/","method":"GET","headers":[["X-Key","` + standin + `"]]}`, "", tool.SecretDenied},
	} {
		_, _, err := ask(s, "net.fetch", c.args, c.body)
		if code(err) != c.expect || strings.Contains(err.Error()+err.Hint, "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
	other.Range(func(k, _ any) bool {
		t.Errorf("the stranger was told %v", k)
		return true
	})
}

func TestSigning(t *testing.T) {
	s, _ := withSecret(t, broker.Options{})
	_, mac, err := ask(s, "secrets.hmac", `{"name":"key","algorithm":"sha256"}`, "data")
	if err != nil || len(mac) != 32 || strings.Contains(hex.EncodeToString([]byte(mac)), "s3cr3t") {
		t.Errorf("%x %v", mac, err)
	}
}

func TestSecretsOfTheRoom(t *testing.T) {
	dir := t.TempDir()
	b := open(t, broker.Options{Secrets: secrets.NewStore(dir, secrets.KeyFile(filepath.Join(dir, "key")))})
	if err := b.SetSecret(t.Context(), place, "key", []byte("value"), []string{"https://x"}); tool.CodeOf(err) != tool.InvalidDefinition {
		t.Errorf("%v", err)
	}
	must(t, b.SetSecret(t.Context(), place, "key", []byte("value"), []string{"*.x.test"}))
	list, err := b.Secrets(t.Context(), place)
	if err != nil || len(list) != 1 || list[0].Name != "key" {
		t.Errorf("%+v %v", list, err)
	}
	must(t, b.DeleteSecret(t.Context(), place, "key"))
	none := open(t, broker.Options{})
	if list, err := none.Secrets(t.Context(), place); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	if err := none.SetSecret(t.Context(), place, "key", []byte("value"), nil); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("%v", err)
	}
}
