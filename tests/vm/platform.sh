# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# What a platform is: an architecture, a kernel of Debian, and the programs of a release of Debian. For sourcing by run.

platforms=(amd64-6.1 amd64-6.12 arm64-6.1 arm64-6.12)

# Programs in the share of a platform that is not that of the continuous integration. What depends on the order of
# memory comes first: changes in place, keys that move, the swap, writers beside each other.
swap_programs=(prog/test_verdicts prog/test_verifier prog/test_grace prog/test_edits prog/test_writers)
order_programs=("${swap_programs[@]}" prog/test_order prog/test_confirm
	prog/test_known prog/test_trial unit/bloom/test_exact_race unit/bloom/test_exact unit/bloom/test_bloom
	unit/bloom/test_known unit/store/test_records unit/store/test_entrytable unit/store/test_changelog
	unit/store/test_opening unit/store/test_readers unit/base/test_lock unit/engine/test_carry unit/engine/test_tallies)

# choose_platform NAME
choose_platform()
{
	platform=$1 out=build/vm/$1
	architecture=${1%%-*} release=bookworm
	case ${1#*-} in
	6.1) kernel_release=bookworm ;;
	6.12) kernel_release=trixie ;;
	6.18) kernel_release=trixie-backports ;;
	esac
	case $architecture in
	amd64) machine_type=x86_64 built=build ;;
	arm64) machine_type=aarch64 built=build/arm64 ;;
	esac
	image=$out/image
}

is_foreign() { [[ $architecture != "$(dpkg --print-architecture)" ]]; }

# The words after make that build for the platform, into $built.
make_words()
{
	words_of_make=(OUT="$built" BPF_OUT="$built")
	is_foreign || return 0
	export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=
	export PKG_CONFIG_LIBDIR=$root/usr/lib/$machine_type-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
	words_of_make+=(CC="$machine_type-linux-gnu-gcc --sysroot=$root" AR="$machine_type-linux-gnu-ar")
}

# emulator: the words of QEMU that say which machine. Emulated, an old processor is a faster one: nobody uses its wide
# registers; and on one processor two would wait for each other most of the time. An arm64 machine has two, which run
# at the same time: it is there for what they see of each other's memory.
emulator()
{
	local accel=${XB_VM_ACCEL:-tcg}

	case $architecture in
	amd64)
		emulate=(qemu-system-x86_64 -machine q35 -accel "$accel" -smp 1
			-cpu "${XB_VM_CPU:-$([[ $accel == kvm ]] && echo max || echo Nehalem)}")
		console=ttyS0
		;;
	arm64)
		emulate=(qemu-system-aarch64 -machine virt -accel "tcg,thread=multi" -smp 2 -cpu "${XB_VM_CPU:-cortex-a57}")
		console=ttyAMA0
		;;
	esac
}
