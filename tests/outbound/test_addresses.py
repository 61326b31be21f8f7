from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.addresses import is_permitted, read_networks

EVERYTHING = read_networks(("0.0.0.0/0", "::/0"))

special_ipv4 = st.ip_addresses(v=4).filter(lambda address: not is_permitted(address))


def carried(prefix: str, address: IPv4Address, shift: int = 0) -> IPv6Address:
    return IPv6Address(int(IPv6Address(prefix)) | int(address) << shift)


class TestPublicAddress:
    @pytest.mark.parametrize(
        "address",
        [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:8.8.8.8",
        ],
    )
    def test_may_be_reached(self, address: str) -> None:
        assert is_permitted(ip_address(address))


class TestSpecialAddress:
    @pytest.mark.parametrize(
        "address",
        [
            "0.0.0.0",  # noqa: S104
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.9",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:0:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:808:808::1",
            "3ffe::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
        ],
    )
    def test_may_not_be_reached(self, address: str) -> None:
        assert not is_permitted(ip_address(address))

    @given(st.ip_addresses())
    def test_is_every_one_that_python_knows_to_be_special(self, address: IPv4Address | IPv6Address) -> None:
        assert address.is_global or not is_permitted(address)

    @given(special_ipv4)
    def test_stays_so_when_an_ipv6_address_carries_it(self, address: IPv4Address) -> None:
        wrapped = [
            carried("::", address),
            carried("::ffff:0:0", address),
            carried("::ffff:0:0:0", address),
            carried("64:ff9b::", address),
            carried("64:ff9b:1::", address),
            carried("2002::", address, 80),
            carried("2001::", address, 64),
            carried("2001:0:808:808::", IPv4Address(int(address) ^ 0xFFFFFFFF)),
        ]
        assert not any(map(is_permitted, wrapped))


class TestAllowedNetwork:
    def test_lifts_the_refusal_of_what_lies_in_it_and_of_nothing_else(self) -> None:
        networks = read_networks(("10.1.0.0/16", "fd12::/16"))
        assert is_permitted(ip_address("10.1.2.3"), networks)
        assert is_permitted(ip_address("fd12::1"), networks)
        assert not is_permitted(ip_address("10.2.0.1"), networks)
        assert not is_permitted(ip_address("fd13::1"), networks)
        assert is_permitted(ip_address("8.8.8.8"), networks)

    def test_of_ipv4_holds_for_mapped_addresses_too(self) -> None:
        networks = read_networks(("127.0.0.0/8",))
        assert is_permitted(ip_address("::ffff:127.0.0.1"), networks)
        assert not is_permitted(ip_address("::ffff:10.0.0.1"), networks)

    def test_may_be_loopback(self) -> None:
        assert is_permitted(ip_address("::1"), read_networks(("::1/128",)))

    def test_of_a_translator_leaves_what_is_translated_to_be_judged(self) -> None:
        networks = read_networks(("64:ff9b::/96", "64:ff9b:1::/48"))
        assert is_permitted(ip_address("64:ff9b::8.8.8.8"), networks)
        assert not is_permitted(ip_address("64:ff9b::127.0.0.1"), networks)
        assert not is_permitted(carried("64:ff9b:1::", IPv4Address("10.0.0.1")), networks)
        assert not is_permitted(IPv6Address("64:ff9b:1:a00:0:100::"), networks)  # a prefix of 48 bits

    @given(st.ip_addresses(network="169.254.0.0/16") | st.ip_addresses(network="fe80::/10"))
    def test_never_opens_link_local_addresses(self, address: IPv4Address | IPv6Address) -> None:
        assert not is_permitted(address, EVERYTHING)

    @pytest.mark.parametrize(
        "address",
        [
            "100.100.100.200",
            "168.63.129.16",
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "192.0.0.192",
            "fd00:42::42",
            "fd00:100::100:200",
            "fd00:a9fe:a9fe::1",
            "fd00:c1::a9fe:a9fe",
            "fd00:ec2::23",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::a9fe:a9fe",
            "::ffff:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "2002:a9fe:a9fe::1",
            "0.0.0.0",  # noqa: S104
            "::",
        ],
    )
    def test_never_opens_metadata_services_and_this_machine(self, address: str) -> None:
        assert not is_permitted(ip_address(address), EVERYTHING)

    @given(st.ip_addresses())
    def test_opens_whatever_else_there_is(self, address: IPv4Address | IPv6Address) -> None:
        assert is_permitted(address, EVERYTHING) or not is_permitted(address)

    @pytest.mark.parametrize("network", ["10.0.0.1/8", "localhost", "10.0.0.0/33"])
    def test_is_refused_when_it_is_none(self, network: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            read_networks((network,))
