// kubectl yad completion: scripts that run `kubectl-yad __complete`.
#include "plugin/commands/commands.h"
#include "plugin/commands/exit_code.h"

namespace yad {
namespace {

constexpr char kBash[] = R"sh(# bash completion for kubectl-yad:  source <(kubectl-yad completion bash)
_kubectl_yad() {
  local line directive=4 word=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :[0-9]*) directive=${line#:} ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(kubectl-yad __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "$directive" = 0 ]; then
    compopt -o filenames 2>/dev/null
    local file
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$word")
  fi
}
complete -F _kubectl_yad kubectl-yad
)sh";

constexpr char kZsh[] = R"sh(#compdef kubectl-yad
# zsh completion for kubectl-yad:  source <(kubectl-yad completion zsh)
_kubectl_yad() {
  local line directive=4
  local -a candidates
  while IFS= read -r line; do
    case $line in
      :[0-9]*) directive=${line#:} ;;
      *) candidates+=("${${line%%$'\t'*}//:/\\:}${${line#*$'\t'}:+:${line#*$'\t'}}") ;;
    esac
  done < <(kubectl-yad __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)
  (( $#candidates )) && _describe 'kubectl yad' candidates
  [[ $directive == 0 ]] && _files
}
compdef _kubectl_yad kubectl-yad
)sh";

constexpr char kFish[] = R"sh(# fish completion for kubectl-yad:  kubectl-yad completion fish | source
function __kubectl_yad_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l directive 4
  for line in (kubectl-yad __complete $words[2..-1] 2>/dev/null)
    if string match -qr '^:[0-9]+$' -- $line
      set directive (string sub -s 2 -- $line)
    else
      echo $line
    end
  end
  if test $directive = 0
    __fish_complete_path (commandline -ct)
  end
end
complete -c kubectl-yad -f -a '(__kubectl_yad_complete)'
)sh";

}  // namespace

int RunCompletion(const PluginOptions& options, Console& console) {
  console.out << (options.shell == "bash" ? kBash : options.shell == "zsh" ? kZsh : kFish);
  return kDone;
}

}  // namespace yad
