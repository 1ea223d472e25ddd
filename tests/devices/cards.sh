# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# What the cards of the emulated machines are. For sourcing by run and inside.

cards=(virtio virtio-4q virtio-mrg-off virtio-mrg-off-plain virtio-offloads-off virtio-ctrl-off virtio-packed virtio-mtu
	vmxnet3 igb e1000 e1000e rtl8139 usb-net bond bond-e1000 team bridge vlan macvlan vxlan)
# Without --all.
share_of_cards=(virtio virtio-mrg-off vmxnet3 e1000)

# choose_card NAME: the words of QEMU for it, how many queues and processors the machine has, the modules it needs,
# and what stands upon the card. What QEMU has no model for is not imitated.
choose_card()
{
	local no_offloads=guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off

	model=virtio-net-pci options='' extra=() queues=1 processors=1 drivers=(virtio_net) stack=none
	case $1 in
	virtio) ;;
	virtio-4q) options=,mq=on,vectors=10 queues=4 processors=4 ;;
	virtio-mrg-off) options=,mrg_rxbuf=off ;;
	virtio-mrg-off-plain) options=,mrg_rxbuf=off,$no_offloads ;;
	virtio-offloads-off) options=,$no_offloads ;;
	virtio-ctrl-off) options=,ctrl_guest_offloads=off ;;
	virtio-packed) options=,packed=on ;;
	virtio-mtu) options=,host_mtu=3000 ;;
	vmxnet3 | igb | e1000 | e1000e) model=$1 drivers+=("$1") ;;
	rtl8139) model=$1 drivers+=(8139cp) ;;
	usb-net) model=$1 extra=(-device qemu-xhci) drivers+=(xhci_pci cdc_ether rndis_host) ;;
	bond) stack=$1 drivers+=(bonding) ;;
	# What it stands on takes no program.
	bond-e1000) model=e1000 stack=bond drivers+=(e1000 bonding) ;;
	team) stack=$1 drivers+=(team team_mode_roundrobin) ;;
	bridge | macvlan | vxlan) stack=$1 drivers+=("$1") ;;
	vlan) stack=$1 ;;
	*) return 1 ;;
	esac
	drivers+=(8021q)
}
