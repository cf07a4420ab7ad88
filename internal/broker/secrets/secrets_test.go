package secrets_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"toolroom/internal/broker/secrets"
	"toolroom/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var here = tool.Place{Tenant: "t", Workspace: "w"}

// exact is a list of hosts without any pattern.
type exact []string

func (e exact) Allow(host string, _ uint16) bool { return slices.Contains(e, host) }

func exactly(list []string) (secrets.Hosts, error) { return exact(list), nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func store(t *testing.T) (*secrets.Store, string) {
	t.Helper()
	dir := t.TempDir()
	return secrets.NewStore(filepath.Join(dir, "secrets"), secrets.KeyFile(filepath.Join(dir, "key"))), dir
}

// wallet has one secret, "key", bound to api.test, and its stand-in.
func wallet(t *testing.T, value string) (*secrets.Wallet, string) {
	t.Helper()
	s, _ := store(t)
	must(t, s.Set(t.Context(), here, "key", []byte(value), []string{"api.test"}))
	w := secrets.NewWallet(s, here, []string{"key"}, exactly)
	standin, err := w.StandIn(t.Context(), "key")
	must(t, err)
	return w, standin
}

func TestStoreKeepsAndForgets(t *testing.T) {
	s, dir := store(t)
	ctx := t.Context()
	if list, err := s.List(ctx, here); err != nil || len(list) != 0 {
		t.Fatalf("%v %v", list, err)
	}
	must(t, s.Set(ctx, here, "b", []byte("value-of-b"), nil))
	must(t, s.Set(ctx, here, "a", []byte("first"), []string{"x.test"}))
	must(t, s.Set(ctx, here, "a", []byte("second"), []string{"y.test"}))
	must(t, s.Set(ctx, tool.Place{Tenant: "t", Workspace: "other"}, "c", []byte("foreign"), nil))
	list, err := s.List(ctx, here)
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[0].Hosts[0] != "y.test" || list[1].Hosts == nil {
		t.Errorf("%+v %v", list, err)
	}
	again := secrets.NewStore(filepath.Join(dir, "secrets"), secrets.KeyFile(filepath.Join(dir, "key")))
	w := secrets.NewWallet(again, here, []string{"a"}, exactly)
	standin, err := w.StandIn(ctx, "a")
	must(t, err)
	if got, err := w.FillURL("y.test", 443, standin); err != nil || got != "second" {
		t.Errorf("%q %v", got, err)
	}
	must(t, s.Delete(ctx, here, "a"))
	if err := s.Delete(ctx, here, "a"); tool.CodeOf(err) != tool.NotFound {
		t.Errorf("%v", err)
	}
}

func TestNothingReadableOnDisk(t *testing.T) {
	s, dir := store(t)
	must(t, s.Set(t.Context(), here, "GITHUB_TOKEN", []byte("ghp_verysecret"), []string{"api.github.test"}))
	files := 0
	must(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(p)
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		for _, word := range []string{"ghp_verysecret", "GITHUB", "api.github"} {
			if bytes.Contains(b, []byte(word)) || strings.Contains(p, word) {
				t.Errorf("%s shows %s", p, word)
			}
		}
		return nil
	}))
	if files != 2 {
		t.Errorf("%d files, want the key and one secret", files)
	}
}

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	must(t, secrets.NewStore(filepath.Join(dir, "s"), secrets.KeyFile(file)).Set(t.Context(), here, "a", []byte("value"), nil))
	text, err := os.ReadFile(file)
	must(t, err)
	t.Setenv("TEST_KEY", string(text))
	for name, key := range map[string]secrets.Key{"variable": secrets.KeyVariable("TEST_KEY"), "command": secrets.KeyCommand("cat", file), "file": secrets.KeyFile(file)} {
		if list, err := secrets.NewStore(filepath.Join(dir, "s"), key).List(t.Context(), here); err != nil || len(list) != 1 {
			t.Errorf("%s: %v %v", name, list, err)
		}
	}
	must(t, os.Chmod(file, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "junk"), []byte("AGE-SECRET-KEY-NOT"), 0o600))
	for name, key := range map[string]secrets.Key{"readable": secrets.KeyFile(file), "empty": secrets.KeyVariable("TEST_NOTHING"), "failing": secrets.KeyCommand("false"),
		"junk": secrets.KeyFile(filepath.Join(dir, "junk")), "other": secrets.KeyFile(filepath.Join(dir, "new"))} {
		_, err := secrets.NewStore(filepath.Join(dir, "s"), key).List(t.Context(), here)
		if tool.CodeOf(err) != tool.StorageFailed || strings.Contains(err.Error(), "AGE-SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := secrets.NewStore(filepath.Join(dir, "s"), secrets.KeyFile(filepath.Join(dir, "key")))
			if err := s.Set(context.Background(), here, "n"+string(rune('a'+i)), []byte("value"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := secrets.NewStore(filepath.Join(dir, "s"), secrets.KeyFile(filepath.Join(dir, "key"))).List(t.Context(), here)
	if err != nil || len(list) != 8 {
		t.Errorf("%d %v", len(list), err)
	}
}

func TestBadSecrets(t *testing.T) {
	s, _ := store(t)
	for _, c := range [][2]string{{"", "value"}, {"1a", "value"}, {"a b", "value"}, {"../x", "value"}, {strings.Repeat("a", 65), "value"}, {"é", "value"}, {"a", "abc"}, {"a", strings.Repeat("x", 17<<10)}} {
		if err := s.Set(t.Context(), here, c[0], []byte(c[1]), nil); tool.CodeOf(err) != tool.InvalidArguments {
			t.Errorf("%.20q: %v", c, err)
		}
	}
}

func TestOnlyWhatIsGranted(t *testing.T) {
	s, dir := store(t)
	must(t, s.Set(t.Context(), here, "key", []byte("value"), nil))
	there := tool.Place{Tenant: "t", Workspace: "other"}
	for name, w := range map[string]*secrets.Wallet{
		"not granted": secrets.NewWallet(s, here, []string{"KEY", "key2"}, exactly), "elsewhere": secrets.NewWallet(s, there, []string{"key"}, exactly),
		"no store": secrets.NewWallet(nil, here, []string{"key"}, exactly), "nothing": secrets.NewWallet(s, here, nil, exactly),
	} {
		_, err := w.StandIn(t.Context(), "key")
		_, signErr := w.Sign(t.Context(), "key", "sha256", nil)
		if tool.CodeOf(err) != tool.SecretDenied || tool.CodeOf(signErr) != tool.SecretDenied {
			t.Errorf("%s: %v, %v", name, err, signErr)
		}
	}
	// A file that was renamed to another place's name is not that place's secret.
	entries, err := os.ReadDir(filepath.Join(dir, "secrets"))
	must(t, err)
	own := entries[0].Name()
	must(t, s.Set(t.Context(), there, "key", []byte("foreign"), nil))
	entries, err = os.ReadDir(filepath.Join(dir, "secrets"))
	must(t, err)
	for _, e := range entries {
		if e.Name() != own {
			must(t, os.Rename(filepath.Join(dir, "secrets", own), filepath.Join(dir, "secrets", e.Name())))
		}
	}
	if _, err := secrets.NewWallet(s, there, []string{"key"}, exactly).StandIn(t.Context(), "key"); tool.CodeOf(err) != tool.SecretDenied {
		t.Errorf("%v", err)
	}
}

func TestFillingIn(t *testing.T) {
	const value = `p&"ss /wörd+<`
	w, standin := wallet(t, value)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+standin))
	wantBasic := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+value))
	header := func(s string) string {
		out, err := w.FillHeader("api.test", 443, "Authorization", s)
		must(t, err)
		return out
	}
	body := func(kind, s string) string {
		out, err := w.FillBody("api.test", 443, kind, []byte(s))
		must(t, err)
		return string(out)
	}
	query, err := w.FillURL("api.test", 443, "a=b&k="+standin)
	must(t, err)
	for got, want := range map[string]string{
		query: "a=b&k=" + strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), header("Bearer " + standin): "Bearer " + value, header(basic): wantBasic,
		header("Basic !!!"): "Basic !!!", header("Basic QQ=="): "Basic QQ==",
		body("application/json; charset=utf-8", `{"k":"`+standin+`"}`): `{"k":"p\u0026\"ss /wörd+\u003c"}`,
		body("application/x-www-form-urlencoded", "k="+standin):        "k=" + url.QueryEscape(value),
		body("text/plain", standin+standin):                            value + value, body("text/plain", "none"): "none",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNotSentElsewhere(t *testing.T) {
	w, standin := wallet(t, "the-value")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+standin))
	_, inURL := w.FillURL("evil.test", 443, standin)
	_, inHeader := w.FillHeader("evil.test", 443, "X", "a"+standin)
	_, inBasic := w.FillHeader("evil.test", 443, "X", basic)
	_, inBody := w.FillBody("evil.test", 443, "", []byte(standin))
	for _, err := range []error{inURL, inHeader, inBasic, inBody} {
		if tool.CodeOf(err) != tool.SecretDenied || strings.Contains(err.Error(), "the-value") {
			t.Errorf("%v", err)
		}
	}
	if got, err := w.FillURL("evil.test", 443, "nothing"); err != nil || got != "nothing" {
		t.Errorf("%q %v", got, err)
	}
}

func TestStandInsAreNewForEveryCall(t *testing.T) {
	s, _ := store(t)
	must(t, s.Set(t.Context(), here, "key", []byte("value"), []string{"api.test"}))
	one, two := secrets.NewWallet(s, here, []string{"key"}, exactly), secrets.NewWallet(s, here, []string{"key"}, exactly)
	a, err := one.StandIn(t.Context(), "key")
	must(t, err)
	again, err := one.StandIn(t.Context(), "key")
	must(t, err)
	b, err := two.StandIn(t.Context(), "key")
	must(t, err)
	if a != again || a == b || strings.Contains(a, "value") {
		t.Errorf("%s %s %s", a, again, b)
	}
	if got, err := two.FillURL("api.test", 443, a); err != nil || got != a {
		t.Errorf("a stand-in of another call was filled in: %q %v", got, err)
	}
}

func TestSign(t *testing.T) {
	s, _ := store(t)
	must(t, s.Set(t.Context(), here, "k", []byte("test-signing-secret"), nil))
	w := secrets.NewWallet(s, here, []string{"k"}, exactly)
	for algorithm, size := range map[string]int{"sha1": 20, "sha256": 32, "SHA-384": 48, "SHA-512": 64} {
		if mac, err := w.Sign(t.Context(), "k", algorithm, []byte("x")); err != nil || len(mac) != size {
			t.Errorf("%s: %d %v", algorithm, len(mac), err)
		}
	}
	mac, err := w.Sign(t.Context(), "k", "sha256", []byte("v0:1700000000:token=abc&text=hi"))
	if err != nil || hex.EncodeToString(mac) != "450c7af2360761d2dcdfbfc1ac36130b7f18ba6f05af6ddef7e5138a6c98c97d" {
		t.Errorf("%x %v", mac, err)
	}
	if _, err := w.Sign(t.Context(), "k", "md5", nil); tool.CodeOf(err) != tool.SecretDenied {
		t.Errorf("%v", err)
	}
}

func TestTakenOutOfWhatComesBack(t *testing.T) {
	const value = `p&"ss /wörd+<`
	w, standin := wallet(t, value)
	if _, err := w.FillHeader("api.test", 443, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("user:"+standin))); err != nil {
		t.Fatal(err)
	}
	for name, spelled := range map[string]string{
		"plain": value, "query": url.QueryEscape(value), "path": url.PathEscape(value), "json": `p\u0026\"ss /wörd+\u003c`, "plain json": `p&\"ss /wörd+<`,
		"html": "p&amp;&#34;ss /wörd+&lt;", "base64": base64.StdEncoding.EncodeToString([]byte(value)), "base64 url": base64.RawURLEncoding.EncodeToString([]byte(value)),
		"hex": hex.EncodeToString([]byte(value)), "header": "p&\"ss /w\u00c3\u00b6rd+<", "basic": base64.StdEncoding.EncodeToString([]byte("user:" + value)),
	} {
		got := w.Redact("you sent <<" + spelled + ">> to us")
		if strings.Contains(got, spelled) || !strings.HasPrefix(got, "you sent <<") || !strings.HasSuffix(got, ">> to us") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTakenOutAcrossChunks(t *testing.T) {
	w, standin := wallet(t, "aab-aac-secret")
	in := strings.Repeat("aaab-aab-aac-secretaab-aac-secre!aab-aac-secret", 300) + "aab-aac-secre"
	want := strings.ReplaceAll(in, "aab-aac-secret", standin)
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "halves": iotest.HalfReader(strings.NewReader(in)),
		"end with data": iotest.DataErrReader(strings.NewReader(in))} {
		out, err := io.ReadAll(w.Reader(r))
		if err != nil || string(out) != want {
			t.Errorf("%s: %d bytes, want %d, %v", name, len(out), len(want), err)
		}
	}
	out, err := io.ReadAll(w.Reader(io.MultiReader(strings.NewReader("x aab-"), iotest.ErrReader(io.ErrUnexpectedEOF))))
	if err != io.ErrUnexpectedEOF || string(out) != "x " { // what may be half of the secret is kept back
		t.Errorf("%q %v", out, err)
	}
}

// FuzzRedactor looks for a cut of the input that lets a secret through.
func FuzzRedactor(f *testing.F) {
	f.Add("abab", "xxababyy", 3)
	f.Add("aaaa", "aaaaaaaaaa", 1)
	f.Add("secret", "sesecretcret", 4)
	dir := f.TempDir()
	s := secrets.NewStore(dir, secrets.KeyFile(filepath.Join(dir, "key")))
	f.Fuzz(func(t *testing.T, value, text string, cut int) {
		if s.Set(t.Context(), here, "k", []byte(value), nil) != nil {
			return
		}
		w := secrets.NewWallet(s, here, []string{"k"}, exactly)
		standin, err := w.StandIn(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		at := min(max(cut, 0), len(text))
		out, err := io.ReadAll(w.Reader(io.MultiReader(strings.NewReader(text[:at]), strings.NewReader(text[at:]))))
		if err != nil || string(out) != w.Redact(text) {
			t.Fatalf("in parts %q, at once %q, %v", out, w.Redact(text), err)
		}
		if strings.Contains(strings.ReplaceAll(string(out), standin, "\x00"), value) && !strings.Contains(value, "\x00") {
			t.Fatalf("%q still holds %q", out, value)
		}
	})
}
