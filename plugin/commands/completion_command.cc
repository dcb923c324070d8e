// kubectl yad completion: scripts that run `kubectl-yad __complete`.
#include "plugin/commands/commands.h"

namespace yad {
namespace {

constexpr char kBash[] = R"sh(# bash completion for kubectl-yad:  source <(kubectl-yad completion bash)
_kubectl_yad() {
  local line directive=4 i last=-1 word
  local -a words=()
  COMPREPLY=()
  # Bash splits "--flag=value" at "=".
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if [[ $last -ge 0 && (${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == =) ]]; then
      words[last]+=${COMP_WORDS[i]}
    else
      words[++last]=${COMP_WORDS[i]}
    fi
  done
  word=${words[last]}
  [[ $word != -*=* ]] || word=${word#*=}
  while IFS= read -r line; do
    case $line in
      :[0-9]*) directive=${line#:} ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(kubectl-yad __complete "${words[@]}" 2>/dev/null)
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
  # In "--flag=value", only the value is completed.
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  (( $#candidates )) && _describe 'kubectl yad' candidates
  [[ $directive == 0 ]] && _files
}
compdef _kubectl_yad kubectl-yad
)sh";

constexpr char kFish[] = R"sh(# fish completion for kubectl-yad:  kubectl-yad completion fish | source
function __kubectl_yad_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l directive 4
  # The candidates for "--flag=value" are values, and fish replaces the whole word.
  set -l flag (string match -r -- '^-[^=]*=' (commandline -ct))
  for line in (kubectl-yad __complete $words[2..-1] 2>/dev/null)
    if string match -qr '^:[0-9]+$' -- $line
      set directive (string sub -s 2 -- $line)
    else
      echo "$flag$line"
    end
  end
  if test $directive = 0
    for line in (__fish_complete_path (string replace -- "$flag" '' (commandline -ct)))
      echo "$flag$line"
    end
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
