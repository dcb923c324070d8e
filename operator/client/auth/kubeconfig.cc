#include "operator/client/auth/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <exception>
#include <filesystem>
#include <map>
#include <utility>

#include "operator/base/file.h"
#include "operator/client/transport/base64.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

struct Entry {
  YAML::Node body;  // a map
  std::string file;
};

struct Merged {
  std::map<std::string, Entry> clusters, contexts, users;
  std::string current_context;
  std::string files;  // for messages
};

std::string Quote(const std::string& text) { return "\"" + Excerpt(text, 120) + "\""; }

std::string NamesOf(const std::map<std::string, Entry>& entries) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& [name, entry] : entries) {
    if (++shown > 20) return out + ", ... (" + std::to_string(entries.size()) + " in all)";
    out.append(out.empty() ? "" : ", ").append(Quote(name));
  }
  return out.empty() ? "none" : out;
}

// Reads the values of one map in a kubeconfig, such as a user. A read that fails returns an empty value and records its
// error, so that the caller checks status() only once, after all reads.
class Fields {
 public:
  // `where` is the prefix of every message: `kubeconfig /x/config: user "a"`.
  Fields(const Entry& entry, std::string where) : body_(entry.body), file_(entry.file), where_(std::move(where)) {}

  const YAML::Node& body() const { return body_; }
  Status status() const {
    if (error_.empty()) return {};
    return yad::Fail(Reason::kConfig, error_);
  }
  void Fail(const std::string& why) {
    if (error_.empty()) error_ = where_ + ": " + why;
  }

  bool Has(const char* key) const {
    const YAML::Node value = body_[key];
    return value.IsDefined() && !value.IsNull();
  }

  std::string String(const char* key) {
    const YAML::Node value = body_[key];
    if (!value.IsDefined() || value.IsNull()) return "";
    if (!value.IsScalar()) {
      Fail(std::string(key) + " must be a string");
      return "";
    }
    return value.Scalar();
  }

  bool Bool(const char* key) {
    const std::string text = String(key);
    if (text.empty() || text == "false") return false;
    if (text != "true") Fail(std::string(key) + " must be true or false, and is " + Quote(text));
    return text == "true";
  }

  // Returns the path in the field `key`. A relative path starts at the directory of the kubeconfig file.
  std::string Path(const char* key) {
    const std::string path = String(key);
    if (path.empty() || std::filesystem::path(path).is_absolute()) return path;
    return (std::filesystem::path(file_).parent_path() / path).lexically_normal().string();
  }

  // Returns the decoded value of "<key>-data" (base64). If it is not set, returns the content of the file whose path is
  // the value of "<key>", and sets `path` to the path of this file. kubectl does the same.
  std::string DataOrFile(const std::string& key, std::string& path) {
    const std::string data_key = key + "-data";
    if (const std::string data = String(data_key.c_str()); !data.empty()) {
      const std::optional<std::string> decoded = Base64Decode(data);
      if (!decoded) Fail(data_key + " is not valid base64");
      return decoded.value_or("");
    }
    path = Path(key.c_str());
    if (path.empty()) return "";
    const Result<std::string> text = ReadSmallFile(path);
    if (!text) Fail(key + " " + text.error().message);
    return text.value_or("");
  }

 private:
  const YAML::Node body_;  // const, because operator[] would add missing keys
  const std::string file_;
  const std::string where_;
  std::string error_;
};

Status MergeSection(const YAML::Node& root, const char* section, const char* body_key, const std::string& file,
                    std::map<std::string, Entry>& into) {
  const auto fail = [&](const std::string& why) {
    return Fail(Reason::kConfig, "kubeconfig " + file + ": " + section + " " + why);
  };
  const YAML::Node list = root[section];
  if (!list.IsDefined() || list.IsNull()) return {};
  if (!list.IsSequence()) return fail("must be a list");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const YAML::Node item = list[i];
    const std::string place = "entry " + std::to_string(i + 1);
    if (!item.IsMap()) return fail(place + " must be a map with name and " + body_key);
    const YAML::Node name = item["name"];
    if (!name.IsDefined() || !name.IsScalar() || name.Scalar().empty()) return fail(place + " has no name");
    // `found` and `body` are two variables, because yaml-cpp throws if an undefined node is assigned.
    const YAML::Node found = item[body_key];
    const YAML::Node body = found.IsDefined() && !found.IsNull() ? found : YAML::Node(YAML::NodeType::Map);
    if (!body.IsMap()) return fail(Quote(name.Scalar()) + ": " + body_key + " must be a map");
    into.try_emplace(name.Scalar(), Entry{body, file});
  }
  return {};
}

Status MergeFile(const KubeconfigFile& file, Merged& into) {
  const auto fail = [&](const std::string& why) {
    return Fail(Reason::kConfig, "kubeconfig " + file.path + ": " + why);
  };
  const YAML::Node root = YAML::Load(file.text);
  if (root.IsNull() || !root.IsDefined()) return {};  // An empty file has no entries.
  if (!root.IsMap()) return fail("this is not a kubeconfig: a map with clusters, users and contexts is expected");
  const YAML::Node kind = root["kind"];
  if (kind.IsDefined() && kind.IsScalar() && !kind.Scalar().empty() && kind.Scalar() != "Config") {
    return fail("this is not a kubeconfig: its kind is " + Quote(kind.Scalar()) + ", not \"Config\"");
  }
  YAD_TRY_VOID(MergeSection(root, "clusters", "cluster", file.path, into.clusters));
  YAD_TRY_VOID(MergeSection(root, "users", "user", file.path, into.users));
  YAD_TRY_VOID(MergeSection(root, "contexts", "context", file.path, into.contexts));
  const YAML::Node current = root["current-context"];
  if (current.IsDefined() && !current.IsNull()) {
    if (!current.IsScalar()) return fail("current-context must be a string");
    if (into.current_context.empty()) into.current_context = current.Scalar();
  }
  return {};
}

void ReadCluster(Fields& fields, ClusterConfig& config) {
  config.server = fields.String("server");
  if (config.server.empty()) {
    fields.Fail("server is missing: the address of the apiserver, such as https://10.0.0.1:6443");
  } else if (config.server.find("://") == std::string::npos) {
    config.server = "https://" + config.server;
  }
  config.tls_server_name = fields.String("tls-server-name");
  config.insecure_skip_tls_verify = fields.Bool("insecure-skip-tls-verify");
  config.tls.ca_pem = fields.DataOrFile("certificate-authority", config.tls_files.ca);
  if (config.insecure_skip_tls_verify && !config.tls.ca_pem.empty()) {
    fields.Fail("insecure-skip-tls-verify and certificate-authority contradict each other: remove one of them");
  }
  config.proxy_url = fields.String("proxy-url");
}

void ReadExec(Fields& user, Fields& fields, const std::string& file, ClusterConfig& config) {
  ExecCredentialPlugin plugin;
  plugin.api_version = fields.String("apiVersion");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    fields.Fail("apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, and is " +
                Quote(plugin.api_version));
  }
  plugin.command = fields.String("command");
  if (plugin.command.empty()) fields.Fail("command is missing");
  // As in kubectl, a relative path with a slash is relative to the directory of the kubeconfig. A name without a slash
  // is searched on PATH.
  if (plugin.command.find('/') != std::string::npos && plugin.command.front() != '/') {
    plugin.command = (std::filesystem::absolute(file).parent_path() / plugin.command).lexically_normal().string();
  }
  if (const YAML::Node args = fields.body()["args"]; args.IsDefined() && !args.IsNull()) {
    if (!args.IsSequence()) fields.Fail("args must be a list of strings");
    for (std::size_t i = 0; args.IsSequence() && i < args.size(); ++i) {
      if (!args[i].IsScalar()) {
        fields.Fail("args must be a list of strings");
      } else {
        plugin.args.push_back(args[i].Scalar());
      }
    }
  }
  if (const YAML::Node env = fields.body()["env"]; env.IsDefined() && !env.IsNull()) {
    if (!env.IsSequence()) fields.Fail("env must be a list of {name, value}");
    for (std::size_t i = 0; env.IsSequence() && i < env.size(); ++i) {
      if (!env[i].IsMap()) {
        fields.Fail("env must be a list of {name, value}");
        continue;
      }
      Fields pair({env[i], file}, "env");
      plugin.env.emplace_back(pair.String("name"), pair.String("value"));
      if (!pair.status() || plugin.env.back().first.empty()) fields.Fail("env must be a list of {name, value}");
    }
  }
  plugin.install_hint = fields.String("installHint");
  plugin.provide_cluster_info = fields.Bool("provideClusterInfo");
  if (fields.String("interactiveMode") == "Always") {
    fields.Fail("interactiveMode Always is not supported: this program has no terminal; use IfAvailable or Never");
  }
  if (Status ok = fields.status(); !ok) user.Fail(ok.error().message);
  config.exec = std::move(plugin);
}

void ReadUser(Fields& fields, const std::string& file, ClusterConfig& config) {
  config.tls.client_cert_pem = fields.DataOrFile("client-certificate", config.tls_files.client_cert);
  config.tls.client_key_pem = fields.DataOrFile("client-key", config.tls_files.client_key);
  config.token = fields.String("token");
  config.token_file = fields.Path("tokenFile");
  config.username = fields.String("username");
  config.password = fields.String("password");
  if (config.token.find_first_of("\r\n") != std::string::npos) fields.Fail("token contains a line break");
  if (fields.Has("auth-provider")) {
    fields.Fail(
        "auth-provider is not supported (kubectl dropped it in 1.26): use exec, a token or a client certificate");
  }
  for (const char* key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (fields.Has(key))
      fields.Fail(std::string(key) + ": impersonation is not supported: use the user's own credentials");
  }
  const YAML::Node exec = fields.body()["exec"];
  if (!exec.IsDefined() || exec.IsNull()) return;
  if (!exec.IsMap()) {
    fields.Fail("exec must be a map");
    return;
  }
  Fields exec_fields({exec, file}, "exec");
  ReadExec(fields, exec_fields, file, config);
}

Result<ClusterConfig> FromContext(const Merged& merged, const std::string& wanted) {
  const auto fail = [&](const std::string& why) {
    return Fail(Reason::kConfig, "kubeconfig " + merged.files + ": " + why);
  };
  const std::string name = wanted.empty() ? merged.current_context : wanted;
  if (name.empty()) {
    return fail("no current-context is set; available contexts: " + NamesOf(merged.contexts) +
                " (choose one: kubectl config use-context NAME)");
  }
  const auto context = merged.contexts.find(name);
  if (context == merged.contexts.end()) {
    return fail((wanted.empty() ? "current-context " : "context ") + Quote(name) +
                " is not defined; available contexts: " + NamesOf(merged.contexts) +
                (wanted.empty() ? " (choose one: kubectl config use-context NAME)" : ""));
  }
  const std::string where = "kubeconfig " + context->second.file + ": context " + Quote(name);
  Fields fields(context->second, where);
  const std::string cluster_name = fields.String("cluster");
  const std::string user_name = fields.String("user");

  ClusterConfig config;
  config.context = name;
  config.source = "context " + Quote(name) + " of " + context->second.file;
  if (const std::string ns = fields.String("namespace"); !ns.empty()) config.ns = ns;
  YAD_TRY_VOID(fields.status());

  const auto cluster = merged.clusters.find(cluster_name);
  if (cluster == merged.clusters.end()) {
    if (cluster_name.empty()) return Fail(Reason::kConfig, where + " has no cluster");
    return Fail(Reason::kConfig, where + " names cluster " + Quote(cluster_name) +
                                     ", which is not defined; available clusters: " + NamesOf(merged.clusters));
  }
  Fields cluster_fields(cluster->second, "kubeconfig " + cluster->second.file + ": cluster " + Quote(cluster_name));
  ReadCluster(cluster_fields, config);
  YAD_TRY_VOID(cluster_fields.status());

  if (user_name.empty()) return config;  // anonymous, as in kubectl
  const auto user = merged.users.find(user_name);
  if (user == merged.users.end()) {
    return Fail(Reason::kConfig, where + " names user " + Quote(user_name) +
                                     ", which is not defined; available users: " + NamesOf(merged.users));
  }
  Fields user_fields(user->second, "kubeconfig " + user->second.file + ": user " + Quote(user_name));
  ReadUser(user_fields, user->second.file, config);
  YAD_TRY_VOID(user_fields.status());
  return config;
}

}  // namespace

Result<ClusterConfig> ConfigFromKubeconfig(const std::vector<KubeconfigFile>& files, const std::string& context) {
  Merged merged;
  for (const KubeconfigFile& file : files) {
    merged.files += (merged.files.empty() ? "" : ", ") + file.path;
    try {
      YAD_TRY_VOID(MergeFile(file, merged));
    } catch (const YAML::Exception& e) {
      const std::string line = e.mark.is_null() ? "" : "line " + std::to_string(e.mark.line + 1) + ": ";
      return Fail(Reason::kConfig, "kubeconfig " + file.path + ": " + line + e.msg);
    } catch (const std::exception& e) {
      return Fail(Reason::kConfig, "kubeconfig " + file.path + ": " + e.what());
    }
  }
  try {
    return FromContext(merged, context);
  } catch (const std::exception& e) {
    return Fail(Reason::kConfig, "kubeconfig " + merged.files + ": " + e.what());
  }
}

}  // namespace yad
