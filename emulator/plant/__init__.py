"""The plant of an emulated hall: water that takes heat away, and feeds that bring power.

Physics only, in litres a minute, kilopascals, degrees Celsius, watts and amperes; how equipment
shows it by Redfish, Modbus and SNMP stands in `serving`.
"""
